import { parseJsonText } from "@millrace/core/wire";
import type { Fact, Item, ToolResultPart } from "@millrace/core";
import type { EffectOf } from "./ending.ts";
import { resultsIn } from "./ending.ts";
import { factsOf, inOrder, must, stateOf } from "./evidence.ts";
import type { Evidence, SessionEvidence } from "./evidence.ts";

/**
 * Throws if the sessions have not come to what they come to without a kill. Two things may differ: an
 * effectful call may have an unknown outcome, and a run that is stopped may have been stopped earlier.
 */
export function compare(clean: Evidence, killed: Evidence, effectOf: EffectOf): void {
  const [wanted, got] = [byName(clean), byName(killed)];
  for (const name of new Set([...wanted.keys(), ...got.keys()])) {
    const [one, other] = [wanted.get(name), got.get(name)];
    must(one !== undefined || wasStopped(clean), `there is a session ${name} too many`);
    must(other !== undefined || wasStopped(clean), `there is no session ${name}`);
    if (one !== undefined && other !== undefined) compareSessions(one, other, effectOf);
  }
}

/** The uid is made anew for each folder, and all other ids follow from it and the script. */
function byName({ sessions }: Evidence): ReadonlyMap<string, SessionEvidence> {
  const text = sessions.reduce(
    (changed, { uid }) => changed.replaceAll(uid, "uid"),
    JSON.stringify(sessions),
  );
  // What was evidence stays evidence when its ids are exchanged; no scenario has bytes in it.
  const renamed = parseJsonText(text) as readonly SessionEvidence[];
  return new Map(renamed.map((session) => [session.sessionId, session]));
}

function wasStopped({ sessions }: Evidence): boolean {
  return sessions.some((session) =>
    factsOf(session, "run_finished").some(({ outcome }) => outcome === "aborted"),
  );
}

function compareSessions(one: SessionEvidence, other: SessionEvidence, effectOf: EffectOf): void {
  same(outcomesOf(one), outcomesOf(other), `${one.sessionId}: the outcomes of runs`);
  const [wanted, got] = [stateOf(one), stateOf(other)];
  same(wanted.compactions, got.compactions, `${one.sessionId}: compactions`);
  const queued = (state: typeof got): readonly string[] =>
    state.queue.map((input) => input.inputId);
  same(queued(wanted), queued(got), `${one.sessionId}: the queue`);
  for (const { runId, outcome } of factsOf(one, "run_finished")) {
    const [before, after] = [itemsOf(one, runId), itemsOf(other, runId)];
    if (outcome === "aborted") compareStopped(before, after, effectOf);
    else compareItems(before, after, effectOf);
  }
}

function outcomesOf(session: SessionEvidence): readonly unknown[] {
  return factsOf(session, "run_finished").map(
    ({ n: _n, time: _time, closes: _closes, sessionId: _id, ...finished }) => finished,
  );
}

function itemsOf({ facts }: SessionEvidence, runId: string): readonly Item[] {
  const own = facts.filter((fact) => isItem(fact) && fact.runId === runId);
  return inOrder(own.flatMap((fact) => (isItem(fact) ? [fact.item] : [])));
}

function isItem(fact: Fact): fact is Extract<Fact, { readonly item: Item }> {
  return fact.type === "item_committed" || fact.type === "item_replaced";
}

function compareItems(wanted: readonly Item[], got: readonly Item[], effectOf: EffectOf): void {
  const ids = (items: readonly Item[]): readonly string[] => items.map(({ id }) => id);
  same(ids(wanted), ids(got), "the items");
  let unknown = false;
  for (const [index, item] of got.entries()) {
    const [result] = resultsIn([item]);
    const clean = wanted[index] as Item; // as many as there are ids
    if (result?.status === "unknown" && resultsIn([clean])[0]?.status !== "unknown") {
      checkUnknown(result, clean, effectOf);
      unknown = true;
    } else if (unknown) same(clean, said(item), "an item after an unknown outcome");
    else same(clean, item, "an item");
  }
}

function checkUnknown(result: ToolResultPart, clean: Item, effectOf: EffectOf): void {
  const { callId, tool } = result;
  must(effectOf(tool) === "effectful", `${tool} may be repeated, and its outcome is unknown`);
  must(resultsIn([clean])[0]?.callId === callId, "the unknown outcome is of another call");
}

/** After an unknown outcome, models reply with that where they would have replied with ok. */
function said(item: Item): Item {
  const parts = item.parts.map((part) =>
    part.kind === "text" ? { ...part, text: part.text.replaceAll("unknown", "ok") } : part,
  );
  return { ...item, parts };
}

/** A run that was stopped: what came before is the same, what came last may have come less far. */
function compareStopped(wanted: readonly Item[], got: readonly Item[], effectOf: EffectOf): void {
  const known = new Map(wanted.map((item) => [item.id, item]));
  for (const item of got) {
    const clean = known.get(item.id);
    const [result] = resultsIn([item]);
    if (result !== undefined) {
      const [before] = clean === undefined ? [] : resultsIn([clean]);
      if (result.status === "unknown") must(effectOf(result.tool) !== "pure", "a false unknown");
      else if (result.status !== "aborted") same(before?.status, result.status, "a result");
    } else if (item.stop !== "aborted") same(clean, item, "an item of a stopped run");
    else if (clean !== undefined)
      must(textOf(clean).startsWith(textOf(item)), "a reply that was cut says something else");
  }
  const left = new Set(got.map(({ id }) => id));
  for (const { id, stop, author } of wanted)
    must(stop === "aborted" || author === "tool" || left.has(id), `the item ${id} is lost`);
}

function textOf({ parts }: Item): string {
  return parts.map((part) => ("text" in part ? part.text : "")).join("");
}

function same(wanted: unknown, got: unknown, what: string): void {
  const [one, other] = [JSON.stringify(wanted), JSON.stringify(got)];
  must(one === other, `${what}: not as without a kill\nwanted ${one}\ngot    ${other}`);
}
