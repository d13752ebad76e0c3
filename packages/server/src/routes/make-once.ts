import { MillraceError } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { Problem } from "../http/problem.ts";
import type { ReachedLimit, RouteContext } from "../http/route-context.ts";
import type { Metadata } from "../http/types.ts";
import { madeBy } from "./created-by.ts";
import type { CreatedBy } from "./created-by.ts";
import { portProblem } from "./refusals.ts";

/** A session that was made, by this request or by an earlier one with its key. */
export interface Made {
  readonly record: SessionRecord;
  readonly replayed: boolean;
}

/** The name of a session that is to be made, and whose it is. */
interface NewSession {
  readonly sessionId: string;
  readonly owner: string;
  /** Whether a run begins with it. */
  readonly begins: boolean;
}

/**
 * Makes a session of this name, or finds the one that an earlier request with the same key has made.
 * Throws `key_reused` for another request with the key, else `session_exists`: the same for an own and a
 * foreign session. Throws `quota_exceeded` if the owner has as many sessions as there may be,
 * or has spent what a day allows and the session begins with an input.
 */
export async function makeOnce(
  { store, quotas, limits }: Pick<RouteContext, "store" | "quotas" | "limits">,
  { sessionId: name, owner, begins }: NewSession,
  by: CreatedBy,
  make: () => Promise<SessionRecord>,
): Promise<Made> {
  try {
    // A repeat finds what it made before, also when there is no room for more.
    if (!(await quotas.hasRoom(owner)) && (await store.find(name)) === undefined) {
      const policy = "sessionsPerUser";
      const detail = `${owner} has ${limits[policy]} sessions (${policy}): remove some`;
      throw new Problem("quota_exceeded", detail, { policy });
    }
    const overspent = begins ? await quotas.overspent(owner) : undefined;
    if (overspent !== undefined && (await store.find(name)) === undefined)
      throw overspentProblem(overspent);
    const record = await make();
    quotas.made(owner);
    return { record, replayed: false };
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (!MillraceError.is(error) || error.code !== "session_exists") throw portProblem(error);
  }
  const found = await store.find(name);
  const made = found && madeBy(found.metadata, by);
  if (found !== undefined && made === "same") return { record: found, replayed: true };
  if (made === "other") {
    throw new Problem("key_reused", "this key made a session of another request: take a new key");
  }
  // It says that the name exists, so it counts like a 404: names can't be tried out.
  if (found?.owner !== owner) await quotas.missed();
  throw new Problem("session_exists", "this name is taken: choose another one");
}

/** The refusal of an input whose run would cost more than there is. */
export function overspentProblem({ policy, limit, seconds }: ReachedLimit): Problem {
  const detail = `${limit / 1e6} dollars of this day are spent (${policy}): wait for the next`;
  return new Problem("quota_exceeded", detail, { policy, retryAfter: seconds });
}

/** Throws `too_large`. */
export function checkMetadata(metadata: Metadata | undefined, limit: number): void {
  const size = Buffer.byteLength(JSON.stringify(metadata ?? {}));
  if (size <= limit) return;
  throw new Problem("too_large", `metadata has at most ${limit} bytes, not ${size}`, {
    limit,
    pointer: "/metadata",
  });
}
