import { createModelStream } from "@millrace/core/model";
import { apply, follow, restore } from "@millrace/core/reading";
import { commitOf, defaultDraftLimits, partId } from "@millrace/core/writing";
import type { Item, Model, SessionState } from "@millrace/core";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { expect, it } from "vitest";
import { defineAgent } from "../define/define-agent.ts";

const mebi = 1_024 * 1_024;
const id = partId("p1");

/** A model whose own limits are wider than those of a lane: it streams ten mebibytes. */
const wide: Model = {
  id: "test/wide",
  stream: ({ signal }) =>
    createModelStream({
      model: "test/wide",
      signal,
      limits: { ...defaultDraftLimits, text: 64 * mebi },
      produce: async (writer) => {
        writer.emit({ op: "begin_part", partId: id, kind: "text" });
        for (let at = 0; at < 10 && !writer.signal.aborted; at += 1) {
          writer.emit({ op: "append_text", partId: id, chunk: "x".repeat(mebi) });
          await systemClock.sleep(5);
        }
        const commit = commitOf(writer.draft(), id);
        if (commit !== undefined) writer.emit(commit);
        return { stop: "end" };
      },
    }),
};

function textOf({ parts }: Pick<Item, "parts">): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

it("the committed item is the draft of the lane, and no more than viewers saw", async () => {
  const store = memorySessionStore();
  const log = memoryEventLog();
  await using session = await defineAgent({ model: wide }).open({ id: "s", store, log });
  const record = await store.find(session.id);
  if (record === undefined) throw new Error("the session is not in its store");
  const stop = new AbortController();
  let shown = 0;
  const watch = async (): Promise<void> => {
    let state: SessionState | undefined;
    const { uid, sessionId } = record;
    const options = { store, log, clock: systemClock, uid, sessionId, signal: stop.signal };
    for await (const { message } of follow(options)) {
      if ("uid" in message) state = restore(message);
      else if (state !== undefined) state = apply(state, message).state;
      for (const { draft } of state?.lanes ?? [])
        for (const part of draft.parts)
          if (part.state === "open")
            shown = Math.max(shown, part.settled.length + part.tail.length);
    }
  };
  const watching = watch();

  const result = await session.send("go").result;
  await systemClock.sleep(100);
  stop.abort();
  await watching;

  const reply = session.transcript.at(-1);
  expect(reply === undefined ? -1 : textOf(reply as Item).length).toBe(shown);
  expect(result).toMatchObject({ outcome: "failed", cause: { code: "part_too_large" } });
});
