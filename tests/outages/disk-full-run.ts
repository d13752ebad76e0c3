/**
 * Sends prompts to a session in files until the disk takes no more, then makes room and goes on. Prints what became of
 * each promise. Its folder is a small disk.
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent } from "@millrace/agent";
import type { Run } from "@millrace/agent";
import type { RunEvent } from "@millrace/core";
import { say, scriptedModel } from "@millrace/core/testing";
import { fileStore } from "@millrace/stores/file";

/** What the program prints. */
export interface FullDisk {
  /** What became of the sends, in order, each once. */
  readonly outcomes: readonly string[];
  readonly messages: readonly string[];
  /** The longest time until an acceptance, and until a result. */
  readonly slowestMs: number;
  /** The narration of a run that could not be stored, to its last event. */
  readonly narrated: string | undefined;
  readonly connections: readonly string[];
  /** After there was room again. */
  readonly statusLater: string;
  readonly later: string;
  readonly verified: boolean;
  readonly dense: boolean;
  /** Inputs that were accepted and are not in the file. */
  readonly lost: number;
  readonly unfinished: number;
}

const [folder = ""] = process.argv.slice(2);
const ballast = join(folder, "ballast");
await writeFile(ballast, Buffer.alloc(64 * 1024));
const connections: string[] = [];
const onEvent = (event: RunEvent): void => {
  if (event.type === "connection_changed") connections.push(event.connection);
};
const replies = Array.from({ length: 400 }, () => [say("y".repeat(3_000))]);
const model = scriptedModel(replies, { chunk: "whole" });
const agent = defineAgent({ model, observers: [onEvent], warnings: false });
const at = join(folder, "sessions");
const store = fileStore(at);
const session = await agent.open({ id: "full", store });

const outcomes: string[] = [];
const messages: string[] = [];
const accepted: string[] = [];
let slowestMs = 0;
let narrated: string | undefined;

async function settled<T>(promise: Promise<T>): Promise<T> {
  const begun = performance.now();
  const late = sleep(20_000).then(() => {
    throw new Error("a promise has not settled within 20 s");
  });
  const value = await Promise.race([promise, late]);
  slowestMs = Math.max(slowestMs, performance.now() - begun);
  return value;
}

async function narratedEnd(run: Run<never>): Promise<string> {
  let last = "";
  for await (const event of run.narrate())
    last = event.type === "run_finished" ? `${event.type} ${event.outcome}` : event.type;
  return last;
}

async function send(): Promise<string> {
  const run = session.send("x".repeat(1_500));
  const acceptance = await settled(run.accepted);
  if (!acceptance.accepted) {
    messages.push(acceptance.error.message);
    return `refused ${acceptance.error.code}`;
  }
  accepted.push(run.id);
  const narration = narratedEnd(run);
  const result = await settled(run.result);
  if (result.outcome !== "failed") return result.outcome;
  messages.push(result.error.message);
  narrated = await settled(narration);
  return `failed ${result.error.code}`;
}

for (let sent = 0, bad = 0; sent < 200 && bad < 3; sent += 1) {
  const outcome = await send();
  if (outcome !== "completed") bad += 1;
  if (outcomes.at(-1) !== outcome) outcomes.push(outcome);
}
await rm(ballast);
for (let tries = 0; session.status !== "idle" && tries < 150; tries += 1) await sleep(100);
const statusLater = session.status;
const later = await send();
await session.close();
const verified = (await store.verify("full")).ok;
await store.close();

const reopened = fileStore(at);
const record = await reopened.find("full");
const facts = record === undefined ? [] : await reopened.read(record.uid);
await reopened.close();
const begun = new Set(
  facts.flatMap((fact) => (fact.type === "input_accepted" ? [`run_${fact.inputId.slice(6)}`] : [])),
);
const ended = facts.filter(({ type }) => type === "run_finished").length;
const left: FullDisk = {
  outcomes,
  messages: [...new Set(messages)],
  slowestMs,
  narrated,
  connections: [...new Set(connections)],
  statusLater,
  later,
  verified,
  dense: facts.every(({ n }, place) => n === place + 1),
  lost: accepted.filter((id) => !begun.has(id)).length,
  unfinished: begun.size - ended,
};
process.stdout.write(JSON.stringify(left));
process.exit(0);
