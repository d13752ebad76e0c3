import { randomBytes, timingSafeEqual, createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Authenticate } from "./authenticator.ts";
import type { Identity } from "../http/identity.ts";

/** Whom all requests of local mode act for. */
export const localIdentity: Identity = { tenant: "local", user: "local" };

/** Where the token of this installation is, unless `MILLRACE_TOKEN_FILE` names another place. */
export function tokenFile(environment: Readonly<Record<string, string | undefined>>): string {
  return environment["MILLRACE_TOKEN_FILE"] ?? join(homedir(), ".millrace", "token");
}

/**
 * Reads the token of this installation, and makes it the first time. The file is for its user alone. What
 * was just made is given to `show`, once: the program that starts the server prints it.
 */
export function localToken(file: string, show: (line: string) => void): string {
  try {
    return checkToken(readFileSync(file, "utf8"), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString("base64url");
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    // Another process has just made it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return checkToken(readFileSync(file, "utf8"), file);
  }
  show(`Authorization: Bearer ${token}`);
  return token;
}

/** A file that others could read is closed to them; one that holds no token is an error, never an open door. */
function checkToken(content: string, file: string): string {
  const token = content.trim();
  if (!/^[A-Za-z0-9_-]{43,}$/.test(token)) {
    throw new Error(`${file} holds no token: remove it, and a new one is made`);
  }
  chmodSync(file, 0o600);
  return token;
}

/** Admits the token of this installation, compared in constant time. */
export function localAuthenticate(token: string): Authenticate {
  const expected = digest(`Bearer ${token}`);
  const fromHeaders: Authenticate["fromHeaders"] = (header) => {
    const given = header("authorization");
    const fits = given !== undefined && timingSafeEqual(digest(given), expected);
    return fits ? localIdentity : undefined;
  };
  return Object.assign(
    (request: Request) => fromHeaders((name) => request.headers.get(name) ?? undefined),
    { fromHeaders },
  );
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
