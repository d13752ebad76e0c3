// Each user has a key, which `npm run user -- <name>` makes. The server knows only hashes: API_KEYS in .env.
import { apiKeys } from "@millrace/server";
import type { StoredApiKey } from "@millrace/server";
import { development } from "./development.ts";
import type { SignIn } from "./serve.ts";

/** How people sign in. Ends the program in production while there is no key. */
export function openSignIn(): SignIn {
  const stored = new Map<string, StoredApiKey>();
  for (const entry of (process.env.API_KEYS ?? "").split(/\s+/)) {
    const [user, id, hash] = entry.split(":");
    if (user && id && hash) stored.set(id, { tenant: "default", user, hash });
  }
  if (stored.size === 0)
    return development(
      "Set API_KEYS in .env to run this in production: `npm run user -- <name>` makes a key and its entry.",
    );
  return { authenticate: apiKeys({ find: (id) => stored.get(id) }) };
}
