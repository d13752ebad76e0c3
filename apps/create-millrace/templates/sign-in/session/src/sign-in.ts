// People sign in with a name and a password, and have a signed cookie then. Passwords are made by
// `npm run user -- <name>`, never chosen: they are so long that a plain hash of them, in USERS of .env, gives nothing away.
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { development } from "./development.ts";
import type { SignIn } from "./serve.ts";
import { cookieOf, signed, verified } from "./signed.ts";

const hours = 12;

/** How people sign in. Ends the program in production while it has no secret or no users. */
export function openSignIn(): SignIn {
  const { SESSION_SECRET = "", USERS = "" } = process.env;
  const entries = USERS.split(/\s+/).map((entry) => entry.split(":"));
  const users = new Map(entries.flatMap(([user, hash]) => (user && hash ? [[user, hash]] : [])));
  if (SESSION_SECRET.length < 32 || users.size === 0)
    return development(
      "Set USERS and a SESSION_SECRET of 32 characters or more in .env to run this in production: `npm run user -- <name>` makes a user.",
    );
  return {
    authenticate: ({ headers }) => {
      const [, bearer] = /^Bearer (\S+)$/.exec(headers.get("authorization") ?? "") ?? [];
      const text = verified("session", bearer ?? cookieOf(headers.get("cookie"), "session") ?? "");
      const [user = "", until] = text?.split("|") ?? [];
      if (!users.has(user)) return undefined; // also one that was removed since
      return { tenant: "default", user, expiresAt: Number(until) };
    },
    answer: (request, response) => {
      const isSignIn = request.url === "/sign-in";
      if (request.method !== "POST" || (!isSignIn && request.url !== "/sign-out")) return false;
      if (isSignIn) void signIn(request, response, users);
      else setSession(response, "", 0).writeHead(204).end();
      return true;
    },
  };
}

/** Reads the form of a person, and answers with the cookie. */
async function signIn(
  request: IncomingMessage,
  response: ServerResponse,
  users: ReadonlyMap<string, string>,
): Promise<void> {
  let form = "";
  try {
    for await (const piece of request) {
      form += String(piece);
      if (form.length > 1_000) return void response.writeHead(413).end();
    }
  } catch {
    return void response.destroy();
  }
  const fields = new URLSearchParams(form);
  const user = fields.get("user") ?? "";
  const given = createHash("sha256")
    .update(fields.get("password") ?? "")
    .digest();
  const known = Buffer.from(users.get(user) ?? "", "hex");
  if (known.length !== given.length || !timingSafeEqual(known, given))
    return void response.writeHead(401).end("no user has this name and password");
  const seconds = hours * 3_600;
  const session = signed("session", `${user}|${Date.now() + seconds * 1_000}`);
  setSession(response, session, seconds).writeHead(204).end();
}

/** Browsers send it to this server alone, also not from links of other sites, and in production over TLS alone. */
function setSession(response: ServerResponse, session: string, seconds: number): ServerResponse {
  const secure = process.env.NODE_ENV === "production" ? "; Secure" : "";
  const cookie = `session=${session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
  return response.setHeader("set-cookie", cookie);
}
