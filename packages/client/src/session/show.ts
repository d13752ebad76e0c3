import { project } from "@millrace/core";
import type { Cause, InputId, SessionId, SessionUid } from "@millrace/core";
import { emptyState } from "@millrace/core/reading";
import type { Machine } from "../connection/machine.ts";
import type { ClientConnection } from "../stream/connector.ts";
import type { WatchedSession } from "../stream/watched.ts";
import { withOlder } from "./older.ts";
import type { Sender } from "./sender.ts";
import type { ClientView } from "./types.ts";

/** Makes the view of a session. Costs what is new since the last one, and a copy of references. */
export function showSession(
  { id, state, older, ended }: WatchedSession,
  { waiting }: Pick<Sender, "waiting">,
  { connection, machine }: { readonly connection: ClientConnection; readonly machine: Machine },
): ClientView {
  const known = state ?? emptyState("" as SessionUid, id as SessionId); // shown only, never applied to
  const view = project(known);
  const queued = new Set<string>(view.queue.map((input) => input.id));
  const underWay = waiting.flatMap(({ key, shown }) => {
    const inputId = `input_${key}` as InputId; // as the server makes it
    return shown === undefined || queued.has(inputId) ? [] : [{ id: inputId, ...shown }];
  });
  const shown = {
    ...view,
    ...withOlder(view, known, older),
    queue: underWay.length === 0 ? view.queue : [...view.queue, ...underWay],
    error: refusalOf(ended, machine) ?? view.error,
    connection,
    head: known.head,
    loading: state === undefined && ended === undefined,
  };
  return shown as ClientView; // tools are known by type only
}

/** Why nothing is shown. A missing session is none: its first prompt makes it. Nor is a sub-agent that has finished. */
function refusalOf(ended: WatchedSession["ended"], { refusal }: Machine): Cause | undefined {
  if (ended !== undefined && ended !== "not_found" && ended !== "finished")
    return { code: ended, message: `the session is ${ended}` };
  if (refusal === undefined) return undefined;
  if ("reason" in refusal) return { code: refusal.reason, message: "the server ended the stream" };
  const code = refusal.status === 401 ? "unauthenticated" : `http_${refusal.status}`;
  return { code, message: `the server answered ${refusal.status}` };
}
