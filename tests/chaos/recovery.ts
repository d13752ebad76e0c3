import { setTimeout as sleep } from "node:timers/promises";
import type { Fact, SessionUid } from "@millrace/core";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import type { SessionViewer } from "../kit/deployment/session-viewer.ts";
import type { People } from "./people.ts";

/** How a session came back after the last fault, in milliseconds. */
export interface Recovery {
  readonly sessionId: string;
  /** The longest time in which a session with work made no progress that its viewers saw. */
  readonly stillMs: number;
  /** Until all work was done and every viewer showed it. Undefined: not within the limit. */
  readonly restMs: number | undefined;
}

export interface Watched {
  readonly record: SessionRecord;
  readonly viewers: readonly SessionViewer[];
}

export interface RecoveryOptions {
  readonly store: SessionStore;
  readonly people: People;
  readonly watched: readonly Watched[];
  readonly limitMs: number;
}

/** The pause between two reads of all facts of a session, for each session: reading many takes their processors. */
const lookMs = 5;

/**
 * Waits until each session has done all its work. Each is sent one more prompt, so that a session which
 * stopped listening is found too. Nothing is opened again here.
 */
export async function awaitRecovery(options: RecoveryOptions): Promise<readonly Recovery[]> {
  return await Promise.all(options.watched.map((one) => awaitRest(options, one)));
}

async function awaitRest(
  { store, people, watched, limitMs }: RecoveryOptions,
  { record, viewers }: Watched,
): Promise<Recovery> {
  const { uid, sessionId } = record;
  const start = performance.now();
  let probed: string | undefined;
  const probe = (): void => {
    probed = undefined;
    void people.prompt(sessionId).then((key) => (probed = key));
  };
  probe();
  let mark = "";
  let movedAt = start;
  let stillMs = 0;
  while (performance.now() - start < limitMs) {
    const facts = await readFacts(store, uid);
    const now = performance.now();
    const next = progressOf(viewers, facts.length);
    stillMs = Math.max(stillMs, now - movedAt);
    if (next !== mark) [mark, movedAt] = [next, now];
    // A stop that came late takes back the prompt that would begin the next run.
    if (probed !== undefined && isTakenBack(facts, probed)) probe();
    const done = probed !== undefined && isEnded(facts, probed);
    const shown = viewers.every(({ state }) => state?.head === facts.length);
    if (done && shown && isAtRest(facts)) {
      // A command that is still on its way would begin a run while the session is judged.
      if (!people.isPosting(sessionId)) return { sessionId, stillMs, restMs: now - start };
      movedAt = now; // a session without work may stand still
    }
    await sleep(Math.max(50, lookMs * watched.length));
  }
  return { sessionId, stillMs, restMs: undefined };
}

/** The facts, or none while the store is away. */
async function readFacts(store: SessionStore, uid: SessionUid): Promise<readonly Fact[]> {
  return await store.read(uid).catch(() => []);
}

/** Changes with everything that the store has, or that a viewer shows. */
function progressOf(viewers: readonly SessionViewer[], head: number): string {
  const shown = viewers.map(({ state }) => [
    state?.head,
    state?.lanes.map(({ lane, epoch, seq }) => [lane, epoch, seq]),
  ]);
  return JSON.stringify([head, shown]);
}

function isEnded(facts: readonly Fact[], key: string): boolean {
  return facts.some((fact) => fact.type === "run_finished" && fact.runId === `run_${key}`);
}

function isTakenBack(facts: readonly Fact[], key: string): boolean {
  return facts.some((fact) => fact.type === "queue_updated" && fact.inputId === `input_${key}`);
}

/** No run is on, and no prompt waits. */
function isAtRest(facts: readonly Fact[]): boolean {
  const waiting = new Set<string>();
  let isOn = false;
  for (const fact of facts) {
    if (fact.type === "run_started") isOn = true;
    if (fact.type === "run_finished") isOn = false;
    if (fact.type === "input_accepted" && fact.input.kind === "prompt") waiting.add(fact.inputId);
    if (fact.type === "queue_updated") waiting.delete(fact.inputId);
    if (fact.type === "item_committed" && fact.inputId !== undefined) waiting.delete(fact.inputId);
  }
  return !isOn && waiting.size === 0;
}
