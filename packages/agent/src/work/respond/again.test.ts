import { partId } from "@millrace/core/writing";
import type { Update } from "@millrace/core/writing";
import { memorySessionStore } from "@millrace/core/memory";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../../define/define-agent.ts";
import type { Respond } from "../../definition/settings.ts";
import { drivenTwice, Gate } from "../../testing/driven-twice.ts";
import type { Ended } from "../../testing/driven-twice.ts";
import { writtenIn, yields } from "../../testing/respond.ts";

const id = partId("p1");
const append = (chunk: string): Update => ({ op: "append_text", partId: id, chunk });
const full: Update = { op: "replace_item", content: "final" };

/** Stops the run when the agent reaches the gate. */
async function stoppedAt(gate: Gate, respond: Respond): Promise<Ended> {
  const store = memorySessionStore();
  await using session = await defineAgent({ respond }).open({ id: "s", store });
  const run = session.send("go");
  await gate.reached.promise;
  run.abort();
  const { outcome } = await run.result;
  return { items: (await writtenIn(store, session.id)).items, outcome };
}

describe("an item that was replaced", () => {
  const writings: readonly (readonly [string, (gate: Gate) => Respond])[] = [
    ["in updates", (gate) => yields(append("draft"), full, gate.wait, append(" late"), full)],
    [
      "by hand",
      (gate) => async (run) => {
        await run.write(async (item) => {
          item.append("draft");
          await item.replace("final");
          await gate.wait(run);
          item.append(" late");
          await item.replace("too late");
        });
      },
    ],
  ];

  it.each(writings)("is stored once when its session is driven again: %s", async (_, writing) => {
    const gate = new Gate();

    const { items, outcome } = await drivenTwice(gate, writing(gate));

    expect(items).toMatchObject([{ stop: "end", parts: [{ text: "final" }] }]);
    expect(outcome).toBe("completed");
  });

  it.each(writings)("is kept by a stop after it: %s", async (_, writing) => {
    const gate = new Gate();

    const { items, outcome } = await stoppedAt(gate, writing(gate));

    expect(items).toMatchObject([
      { stop: "end", parts: [{ text: "final" }] },
      { stop: "aborted", parts: [] },
    ]);
    expect(outcome).toBe("aborted");
  });

  it("ends as aborted if it is replaced after the stop", async () => {
    const gate = new Gate();

    const { items, outcome } = await stoppedAt(gate, yields(append("draft"), gate.wait, full));

    expect(items).toMatchObject([{ stop: "aborted", parts: [{ text: "final" }] }]);
    expect(outcome).toBe("aborted");
  });

  it("is followed by the same next item when its session is driven again", async () => {
    const gate = new Gate();
    const next: Update = { op: "append_text", partId: partId("p2"), chunk: "next" };

    const { items } = await drivenTwice(
      gate,
      yields(append("draft"), full, gate.wait, append("x"), next),
    );

    expect(items).toMatchObject([{ parts: [{ text: "final" }] }, { parts: [{ text: "next" }] }]);
  });
});

describe("an item that an illegal update ended", () => {
  it("ends the agent's code in the same way when its session is driven again", async () => {
    const gate = new Gate();
    const bytes: Update = { op: "append_bytes", partId: id, chunk: Uint8Array.of(1) };
    const respond: Respond = async (run) => {
      const failure = await run
        .write(yields(append("kept"), bytes)(run))
        .then(String, (error: Error) => error.message);
      await gate.wait(run);
      await run.write(failure);
    };

    const { items, outcome } = await drivenTwice(gate, respond);

    expect(items[0]).toMatchObject({ stop: "failed", parts: [{ text: "kept" }] });
    expect(items[1]?.parts).toMatchObject([{ text: items[0]?.cause?.message }]);
    expect(items).toHaveLength(2);
    expect(outcome).toBe("completed");
  });
});
