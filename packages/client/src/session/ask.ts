import type { ViewApproval } from "@millrace/core";
import type { WatchedSession } from "../stream/watched.ts";
import type { ClientRun } from "./types.ts";

/** Answers the questions of a run by a function, once each, until the run has ended or the session is closed. */
export function answerBy(parts: {
  readonly ask: (approval: ViewApproval) => unknown;
  readonly run: Pick<ClientRun<never, never>, "id" | "result">;
  readonly session: WatchedSession;
  readonly watch: (listener: () => void) => () => void;
  readonly approvals: () => readonly ViewApproval[];
  readonly decide: (id: string, body: { readonly decision: "allow" | "deny" }) => void;
}): void {
  const { run, session } = parts;
  const asked = new Set<string>();
  const answer = async (approval: ViewApproval): Promise<void> => {
    let isAllowed = false;
    try {
      isAllowed = (await parts.ask(approval)) === "allow";
    } catch {
      // As in process: it is denied.
    }
    parts.decide(approval.id, { decision: isAllowed ? "allow" : "deny" });
  };
  const leave = parts.watch(() => {
    if (session.state?.run?.runId !== run.id) return;
    for (const approval of parts.approvals()) {
      if (asked.has(approval.id)) continue;
      asked.add(approval.id);
      void answer(approval);
    }
  });
  void run.result.then(leave);
}
