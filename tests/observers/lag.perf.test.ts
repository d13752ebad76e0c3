// How far a local reader is behind its model, in memory: from the call that made a delta to the moment
// at which `narrate()` gives its text. An inline observer beside it shows what the machine itself costs.
import { setTimeout as later } from "node:timers/promises";
import { defineAgent } from "@millrace/agent";
import { createModelStream } from "@millrace/core/model";
import { commitOf, partId } from "@millrace/core/writing";
import type { Delta, Model } from "@millrace/core";
import { expect, it } from "vitest";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";

const letters = 150;
const limitMs = 3;

interface Lag {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly most: number;
}

/** Emits a letter every few milliseconds, as a vendor does, and notes when it did. */
function pacedModel(everyMs: number, emittedAt: number[]): Model {
  const id = partId("p1");
  return {
    id: "test/paced",
    stream: ({ signal }) =>
      createModelStream({
        model: "test/paced",
        signal,
        produce: async (writer) => {
          writer.emit({ op: "begin_part", partId: id, kind: "text" });
          for (let at = 0; at < letters; at += 1) {
            await later(everyMs);
            emittedAt.push(performance.now());
            writer.emit({ op: "append_text", partId: id, chunk: "x" });
          }
          writer.emit(commitOf(writer.draft(), id) as Delta); // the part is open
          return { stop: "end", evidence: "test" };
        },
      }),
  };
}

async function lagOf(everyMs: number): Promise<{ readonly narrated: Lag; readonly observed: Lag }> {
  const emittedAt: number[] = [];
  const narratedAt: number[] = [];
  const observedAt: number[] = [];
  const agent = defineAgent({ model: pacedModel(everyMs, emittedAt) });
  await using session = await agent.open();
  const run = session.send("go", {
    observers: [
      (event) => {
        if (event.type === "content_delta" && event.delta.op === "append_text")
          observedAt.push(performance.now());
      },
    ],
  });
  for await (const event of run.narrate()) {
    if (event.type !== "assistant_text_delta") continue;
    for (const _ of event.text) narratedAt.push(performance.now());
  }
  const spread = (at: readonly number[]): Lag => {
    expect(at).toHaveLength(letters);
    const lags = at.map((time, index) => time - (emittedAt[index] ?? Number.NaN));
    const sorted = lags.toSorted((a, b) => a - b);
    const quantile = (share: number): number =>
      Number((sorted[Math.floor(share * (letters - 1))] ?? Number.NaN).toFixed(2));
    return { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), most: quantile(1) };
  };
  return { narrated: spread(narratedAt), observed: spread(observedAt) };
}

it.each([1, 5, 20])(
  "narrate() in memory lags by at most 3 ms in the median, with a delta every %i ms",
  async (everyMs) => {
    const { narrated, observed } = await retryWhenNoisy(
      () => lagOf(everyMs),
      (measured) => measured.narrated.p50 <= limitMs,
    );

    const show = ({ p50, p90, p99, most }: Lag): string => `${p50} / ${p90} / ${p99} / ${most} ms`;
    console.log(
      `lag: a delta every ${everyMs} ms, p50 / p90 / p99 / most: narrate() ${show(narrated)}, inline observer ${show(observed)}`,
    );
    expect(narrated.p50).toBeLessThanOrEqual(limitMs);
  },
);
