import { partId } from "@millrace/core/writing";
import type { Update } from "@millrace/core/writing";
import type { Cause, Item, PartId, Usage } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { memorySessionStore } from "@millrace/core/memory";
import { defineAgent } from "../define/define-agent.ts";
import type { ActiveRun, Respond } from "../definition/settings.ts";
import { partIdOf, withPartId } from "../loop/ids.ts";

/** The end of one run of an agent that writes its items by itself. */
export interface Answer {
  readonly outcome: string;
  readonly usage: Usage;
  /** Of a run that failed. */
  readonly cause: Cause | undefined;
  readonly items: readonly Item[];
  /** The types of the facts that stored them, in order. */
  readonly facts: readonly string[];
}

/** Runs such an agent once, in memory. */
export async function answerOf(respond: Respond): Promise<Answer> {
  const store = memorySessionStore();
  await using session = await defineAgent({ respond }).open({ id: "s", store });
  const result = await session.send("go").result;
  const failed = result.outcome === "failed" ? (result.error.cause as Cause) : undefined;
  const written = await writtenIn(store, session.id);
  return { outcome: result.outcome, usage: result.usage, cause: failed, ...written };
}

/** The items that an agent has written in a session. */
export async function writtenIn(
  store: SessionStore,
  id: Parameters<SessionStore["find"]>[0],
): Promise<Pick<Answer, "items" | "facts">> {
  const record = await store.find(id);
  if (record === undefined) throw new Error("the session is not in its store");
  const facts = await store.read(record.uid);
  const stored = facts.flatMap((fact) =>
    (fact.type === "item_committed" || fact.type === "item_replaced") && fact.item.author !== "user"
      ? [fact]
      : [],
  );
  return { items: stored.map(({ item }) => item), facts: stored.map(({ type }) => type) };
}

/**
 * The items with each part's number in its item as the part's id: `p1` for the first id that the
 * item's writer used. Throws if an id is not unique in the session: not made from its item's, or there twice.
 */
export function numbered(items: readonly Item[]): readonly Item[] {
  const seen = new Set<PartId>();
  return items.map((item) => ({
    ...item,
    parts: item.parts.map((part) => {
      const number = Number(/\d+$/.exec(part.id)?.[0]);
      if (part.id !== partIdOf(item.id, number) || seen.has(part.id))
        throw new Error(`part ${part.id} of ${item.id} has not an id of its own`);
      seen.add(part.id);
      return withPartId(part, partId(`p${number}`));
    }),
  }));
}

/** An agent that yields these updates in order, and calls the functions between them. */
export function yields(
  ...steps: readonly (Update | ((run: ActiveRun) => void | Promise<void>))[]
): (run: ActiveRun) => AsyncGenerator<Update, void> {
  return async function* respond(run) {
    for (const step of steps) {
      if (typeof step === "function") await step(run);
      else yield step;
    }
  };
}
