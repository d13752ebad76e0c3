import { Problem } from "@millrace/server/dialect";
import type { RouteContext } from "@millrace/server/dialect";

/** A request with the key by which a repeat of it is known. */
export type Keyed = RouteContext & { readonly key: string };

/** A refusal of what a request says. */
export function refused(detail: string, pointer: string): Problem {
  return new Problem("invalid_request", detail, { pointer });
}
