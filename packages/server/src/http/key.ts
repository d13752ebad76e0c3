import { Problem } from "./problem.ts";
import type { Route } from "./route.ts";
import { keyPattern } from "./shapes.ts";

const wellFormed = new RegExp(keyPattern);

/** The idempotency key of a request, without quotes. Throws `invalid_key` if it is missing where needed. */
export function keyOf(route: Route, header: string | undefined): string | undefined {
  if (route.key === "none") return undefined;
  if (header === undefined) {
    if (route.key === "optional") return undefined;
    throw invalidKey("send an Idempotency-Key, and keep it for repeats");
  }
  const [, quoted] = /^"(.*)"$/.exec(header) ?? [];
  const key = quoted ?? header;
  if (wellFormed.test(key)) return key;
  throw invalidKey("an Idempotency-Key has 16 to 128 letters, digits or -");
}

function invalidKey(detail: string): Problem {
  return new Problem("invalid_key", detail);
}
