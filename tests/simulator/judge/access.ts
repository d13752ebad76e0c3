/** Nobody is sent what another user has sent, or what came of it. */
import { userOf } from "../scene/plan.ts";
import type { Action } from "../scene/plan.ts";
import type { Report } from "./report.ts";

/** Judges all bytes that a host gets. The key of an action is in its text, in its reply and in the ids of its run. */
export function accessJudge(
  actions: readonly Pick<Action, "key" | "host">[],
  report: Pick<Report, "add">,
): (host: string, bytes: Uint8Array) => void {
  const owners = new Map(actions.map(({ key, host }) => [key, userOf(host)]));
  return (host, bytes) => {
    const text = Buffer.from(bytes).toString("latin1");
    for (const [key] of text.matchAll(/(?:key|read)-\d{16}/g)) {
      const owner = owners.get(key) ?? userOf(host);
      if (owner !== userOf(host)) report.add("access", `${host} gets ${key} of ${owner}`);
    }
  };
}
