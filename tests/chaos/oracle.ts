import { isDeepStrictEqual } from "node:util";
import { emptyState, replay, snapshot } from "@millrace/core/reading";
import type { Fact, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { Command } from "../kit/deployment/command.ts";
import type { Effect } from "../kit/deployment/paced-agent.ts";
import { judgeFacts } from "./judge-facts.ts";
import { judgePeople } from "./judge-people.ts";
import { judgeTools } from "./judge-tools.ts";

/** A command as a person sent it, and what came of it. */
export interface SentCommand extends Command {
  readonly session: string;
  /** `unknown`: no web node answered. It may have been stored, once. */
  readonly outcome: "accepted" | "refused" | "unknown";
}

/** The last state of a viewer, and what it saw that no viewer may see. */
export interface SeenByViewer {
  readonly state: SessionState | undefined;
  readonly faults: readonly string[];
}

/** All that is known of one session after a history. */
export interface SessionHistory {
  readonly sessionId: SessionId;
  readonly uid: SessionUid;
  /** As the store has them. */
  readonly facts: readonly Fact[];
  /** By people, to this session. */
  readonly sent: readonly SentCommand[];
  /** Of tools, in this session. */
  readonly effects: readonly Effect[];
  readonly viewers: readonly SeenByViewer[];
  /** Whether the store found no change of its rows that no writer made. */
  readonly verified: boolean;
}

/** A broken promise. The kinds are those that the tests of the oracle plant. */
export interface Violation {
  readonly kind: string;
  readonly what: string;
}

/** What must hold for a session, judged from outside: facts, effects, what people sent and viewers saw. */
export function judge(history: SessionHistory): readonly Violation[] {
  const { sessionId, verified } = history;
  const violations = [
    ...judgeFacts(history.facts),
    ...judgePeople(history),
    ...judgeTools(history),
    ...judgeViewers(history),
    ...(verified ? [] : [{ kind: "unverified", what: "rows of the store were changed" }]),
  ];
  return violations.map(({ kind, what }) => ({ kind, what: `${sessionId}: ${what}` }));
}

function judgeViewers({ uid, sessionId, facts, viewers }: SessionHistory): readonly Violation[] {
  const stored = plain(replay(emptyState(uid, sessionId), facts));
  return viewers.flatMap(({ state, faults }, at): readonly Violation[] => {
    const seen = faults.map((fault) => ({ kind: "viewer saw", what: `viewer ${at} saw ${fault}` }));
    const shown = state === undefined ? undefined : plain(state);
    if (isDeepStrictEqual(shown, stored)) return seen;
    const what = `viewer ${at} has ${state?.head} of ${facts.length} facts, or another state: ${firstDifference(shown, stored)}`;
    return [...seen, { kind: "viewer differs", what }];
  });
}

/** A state as JSON has it: fields in any order, and none that are undefined. */
function plain(state: SessionState): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(snapshot(state))) as Readonly<Record<string, unknown>>;
}

function firstDifference(
  shown: Readonly<Record<string, unknown>> = {},
  stored: Readonly<Record<string, unknown>>,
): string {
  const name = Object.keys({ ...stored, ...shown }).find(
    (field) => !isDeepStrictEqual(shown[field], stored[field]),
  );
  return `${name} is ${JSON.stringify(shown[name ?? ""])}, not ${JSON.stringify(stored[name ?? ""])}`;
}
