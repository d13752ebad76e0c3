import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "@millrace/agent";
import { itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { fileStore } from "@millrace/stores/file";
import { afterAll, beforeAll, expect, it } from "vitest";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";

// CPU of this process for one long reply, by the provider alone and through loop, events and a session
// file. Both in one run, in pairs, so that a noisy machine disturbs both alike.

const deltas = 100_000; // so long that what a session costs by itself does not matter
const pairs = 7;
const limit = 2;
let vendor: { readonly url: string; readonly stop: () => void };
let folder = "";

beforeAll(async () => {
  vendor = await startVendor();
  folder = await mkdtemp(join(tmpdir(), "millrace-overhead-"));
});
afterAll(async () => {
  vendor.stop();
  await rm(folder, { recursive: true });
});

it("loop, events and session file cost at most as much again as the provider alone", async () => {
  const model = anthropic("m", { baseUrl: vendor.url, apiKey: "k" });
  const agent = defineAgent({ model });
  const question: Item = {
    id: itemId("q"),
    author: "user",
    parts: [{ kind: "text", id: partId("p"), text: "go" }],
    stop: "end",
  };
  const alone = async (): Promise<string> => {
    const stream = model.stream({ transcript: [question] });
    let seen = 0;
    for await (const delta of stream) if (delta.op === "append_text") seen += delta.chunk.length;
    expect(seen).toBeGreaterThan(deltas);
    return (await stream.result).stop;
  };
  const whole = async (round: number): Promise<string> => {
    await using session = await agent.open({ id: `s${round}`, store: fileStore(folder) });
    return (await session.send("go").result).outcome;
  };
  await alone();
  await whole(0);

  let round = 0;
  const median = await retryWhenNoisy(
    async () => {
      const ratios: number[] = [];
      for (let pair = 0; pair < pairs; pair += 1) {
        round += 1;
        const first = await cpuOf(alone);
        const second = await cpuOf(() => whole(round));
        expect([first.came, second.came]).toStrictEqual(["end", "completed"]);
        ratios.push(second.ms / first.ms);
      }
      return ratios.toSorted((a, b) => a - b)[Math.floor(pairs / 2)] ?? Infinity;
    },
    (measured) => measured < limit,
  );

  console.log(
    `overhead: ${median.toFixed(2)} x the provider alone, ${deltas} deltas, median of ${pairs} pairs`,
  );
  expect(median).toBeLessThan(limit);
}, 120_000);

async function cpuOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly ms: number; readonly came: T }> {
  const before = process.cpuUsage();
  const came = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1_000, came };
}

async function startVendor(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const script = new URL("vendor.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=@millrace/source", script, String(deltas)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the vendor ended before it began")));
    child.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString().trim()));
  });
  return { url, stop: () => child.kill("SIGKILL") };
}
