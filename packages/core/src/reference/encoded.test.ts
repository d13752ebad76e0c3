import { describe, expect, test } from "vitest";
import type { Fact } from "../event/event.ts";
import { inputId, sessionUid } from "../ids.ts";
import type { PeopleFact } from "../ports/session-record.ts";
import { memoryEventLog } from "./memory-event-log.ts";
import { memorySessionStore } from "./memory-session-store.ts";

/** A prompt whose parts the test holds. */
function promptOf(): { readonly body: PeopleFact; readonly parts: { text: string }[] } {
  const parts = [{ kind: "text", id: "p1", text: "as sent" }] as const;
  const held: { text: string }[] = parts.map((part) => ({ ...part }));
  const input = { kind: "prompt", parts: held };
  const body = { type: "input_accepted", inputId: inputId("input_k"), input };
  return { body: body as unknown as PeopleFact, parts: held }; // the parts may be changed
}

function textOf(fact: Fact | undefined): string | undefined {
  if (fact?.type !== "input_accepted" || !("parts" in fact.input)) return undefined;
  const [part] = fact.input.parts;
  return part?.kind === "text" ? part.text : undefined;
}

describe("memory ports that encode", () => {
  test("give each caller an object of its own, and keep what was sent", async () => {
    const store = memorySessionStore({ encode: true });
    const metadata = { tags: ["a"] };
    const { uid } = await store.create({ sessionId: "s", metadata });
    const { body, parts } = promptOf();
    const answer = await store.accept(uid, "k", body);

    for (const part of parts) part.text = "changed by who sent it";
    metadata.tags.push("b");
    const [first] = await store.read(uid);
    (first as unknown as { input: { parts: { text: string }[] } }).input.parts[0]!.text = "read";

    const [second] = await store.read(uid);
    expect(textOf(second)).toBe("as sent");
    expect(answer.outcome === "accepted" && textOf(answer.facts[0])).toBe("as sent");
    expect((await store.find("s"))?.metadata).toEqual({ tags: ["a"] });
    expect(await store.find("s")).not.toBe(await store.find("s"));
  });

  test("announce a fact to each subscriber as an object of its own", async () => {
    const store = memorySessionStore();
    const { uid } = await store.create({ sessionId: "s" });
    await store.accept(uid, "k", promptOf().body);
    const [fact] = await store.read(uid);
    if (fact === undefined) throw new Error("nothing was stored");
    const log = memoryEventLog({ encode: true });
    const stop = new AbortController();
    const tails = await Promise.all([1, 2].map(() => log.tail(uid, { signal: stop.signal })));

    await log.announce(uid, fact);
    const read = await Promise.all(tails.map((tail) => tail[Symbol.asyncIterator]().next()));
    stop.abort();

    const [one, other] = read.map(({ value }) => value as Fact);
    expect([one, other]).toEqual([fact, fact]);
    expect(one).not.toBe(fact);
    expect(one).not.toBe(other);
  });

  test("refuse a fact that the wire can't carry, as a store outside does", async () => {
    const log = memoryEventLog({ encode: true });
    const broken = { v: 1, n: 0.5, type: "run_started" } as unknown as Fact;

    await expect(log.announce(sessionUid("u"), broken)).rejects.toMatchObject({
      code: "invalid_event",
    });
  });
});
