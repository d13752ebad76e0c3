// People sign in at an identity provider, whose tokens this server checks: JWT_ISSUER, JWT_AUDIENCE and JWT_KEYS in .env.
import { jwt } from "@millrace/server";
import { development } from "./development.ts";
import type { SignIn } from "./serve.ts";

/** How people sign in. Ends the program in production while one of the settings is missing. */
export function openSignIn(): SignIn {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWT_KEYS: keys } = process.env;
  if (!issuer || !audience || !keys)
    return development(
      "Set JWT_ISSUER, JWT_AUDIENCE and JWT_KEYS in .env to run this in production: they name your identity provider.",
    );
  return {
    authenticate: jwt({
      issuer,
      audience,
      keys,
      // Organisations of the provider share nothing. Put the claim here by which yours names them.
      identity: ({ sub, org_id: tenant = "default" }) =>
        sub === undefined || typeof tenant !== "string" ? undefined : { tenant, user: sub },
    }),
  };
}
