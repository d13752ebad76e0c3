// Each browser is a user of its own, by a cookie. Put the users of your application here: the function that is
// `authenticate` in server.ts gives their tenant and name, or nothing, which means no.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

/** The guest of a request's cookies. */
export function guest(cookies: string | null | undefined): string | undefined {
  return /(?:^|; )guest=([\w-]{36})(?:;|$)/.exec(cookies ?? "")?.[1];
}

/** Makes a browser that loads the page a guest. */
export function welcome({ headers }: IncomingMessage, response: ServerResponse): void {
  const isPage = headers.accept?.includes("text/html") === true;
  if (!isPage || guest(headers.cookie) !== undefined) return;
  const cookie = `guest=${randomUUID()}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`;
  response.setHeader("set-cookie", cookie);
}
