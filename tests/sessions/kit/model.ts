import { abortedCause, createModelStream } from "@millrace/core/model";
import type { ReplyWriter } from "@millrace/core/model";
import type { ModelRequest } from "@millrace/core/ports";
import { callId, commitOf, noUsage, partId } from "@millrace/core/writing";
import type { Delta, Model, Part, Usage } from "@millrace/core";
import type { Ending, PartOpening } from "@millrace/core/writing";
import type { Random } from "../../kit/random.ts";
import type { HeldClock } from "./clock.ts";
import type { Dialect } from "./dialects.ts";

interface RandomModelOptions {
  readonly dialect: Dialect;
  readonly random: Random;
  readonly clock: HeldClock;
  /** Called with each request before it is answered. */
  readonly onRequest: (request: ModelRequest) => void;
  /** Whether to answer plainly from now on. */
  readonly tired: () => boolean;
}

/** A model of one dialect that emits any content, calls any tool, and ends in any way. */
export function randomModel(options: RandomModelOptions): Model {
  const { dialect } = options;
  const id = `${dialect.protocol}/${dialect.model}`;
  return {
    id,
    stream: (request) => {
      options.onRequest(request);
      return createModelStream({
        model: id,
        signal: request.signal,
        produce: (writer) => produce(options, writer, isSummary(request)),
      });
    },
  };
}

/** Whether the request is for a summary. */
export function isSummary({ transcript }: ModelRequest): boolean {
  return transcript[0]?.id === "record";
}

type Produced = Ending & { readonly usage?: Usage | undefined };

async function produce(
  options: RandomModelOptions,
  writer: ReplyWriter,
  summarises: boolean,
): Promise<Produced> {
  const { dialect, random, tired } = options;
  if (tired()) {
    await write(writer, "p1", { kind: "text" }, "Well then.");
    return { stop: "end", evidence: "said" };
  }
  const usage = drawUsage(random);
  if (summarises && random.chance(0.7)) {
    await write(writer, "p1", { kind: "text" }, "In short: nothing.");
    // A summary with a call in it, which no tool would answer.
    if (random.chance(0.1)) await writeCall(writer, random, 2);
    return { stop: "end", evidence: "said", usage };
  }
  if (random.chance(0.2) && dialect.rich.length > 0) {
    const { parts, ending } = random.pick(random.pick(dialect.rich));
    for (const part of parts) emitPart(writer, part);
    return { ...ending, usage };
  }
  const count = random.below(5);
  let called = false;
  for (let at = 1; at <= count; at += 1) {
    if (random.chance(0.08)) await options.clock.sleep(20_000, writer.signal);
    if (writer.signal.aborted) return { stop: "aborted", cause: abortedCause, usage };
    const draw = random.next();
    if (draw < 0.3) await write(writer, `p${at}`, { kind: "text" }, random.pick(texts));
    else if (draw < 0.4) await write(writer, `p${at}`, { kind: "reasoning" }, "let me think");
    else {
      called = true;
      await writeCall(writer, random, at);
    }
  }
  return { ...drawEnding(random, called), usage };
}

async function writeCall(writer: ReplyWriter, random: Random, at: number): Promise<void> {
  const called = random.chance(0.9) ? `call_${random.below(4)}_${at}` : "call_0";
  const opening = {
    kind: "tool_call",
    callId: callId(called),
    tool: random.pick(tools),
  } as const;
  await write(writer, `p${at}`, opening, random.pick(rawInputs), random.chance(0.95));
}

async function write(
  writer: ReplyWriter,
  id: string,
  opening: PartOpening,
  text: string,
  whole = true,
): Promise<void> {
  const part = partId(id);
  writer.emit({ op: "begin_part", partId: part, ...opening });
  await Promise.resolve();
  const chunk = whole ? text : text.slice(0, text.length / 2);
  if (chunk !== "") writer.emit({ op: "append_text", partId: part, chunk });
  if (!whole) return;
  await Promise.resolve();
  const commit = commitOf(writer.draft(), part);
  if (commit !== undefined) writer.emit(commit);
}

function emitPart(writer: ReplyWriter, part: Part): void {
  const delta: Delta = { op: "commit_part", partId: part.id, part };
  writer.emit(delta);
}

function drawEnding(random: Random, called: boolean): Ending {
  const draw = random.next();
  if (draw < 0.75) return { stop: called ? "tools" : "end", evidence: "said" };
  if (draw < 0.78) return { stop: "tools", evidence: "said" };
  if (draw < 0.81) return { stop: "end", evidence: "said" };
  if (draw < 0.85) return { stop: "length", evidence: "said" };
  if (draw < 0.88) return { stop: "paused", evidence: "said" };
  if (draw < 0.9) return { stop: "filtered", evidence: "said" };
  if (draw < 0.93) return { stop: "truncated", cause: { code: "truncated", message: "cut" } };
  if (draw < 0.96)
    return {
      stop: "failed",
      cause: { code: "overloaded", message: "too busy", retryable: true },
    };
  if (draw < 0.98)
    return { stop: "failed", cause: { code: "context_overflow", message: "too long" } };
  return { stop: "failed", cause: { code: "invalid_request", message: "no" } };
}

function drawUsage(random: Random): Usage {
  return { ...noUsage, inputTokens: random.below(900), outputTokens: random.below(100) };
}

const tools =
  "look look pay pay wire wire wire slow alone boom locate locate never Look gone".split(" ");
const texts = ["Right.", "One\ntwo", " ", "日本 😀", "{}", "</s>"];
const rawInputs = [
  "{}",
  '{"a":1}',
  '{"a":2}',
  '{"a":3,"b":{"c":[1,2,{"d":null}]}}',
  '{"ask":true}',
  '{"ask":true,"a":7}',
  '{"a":5,"ask":true}',
  "",
  "[]",
  '{"a":',
  '{"a":1,"a":2}',
  '{"wrong":true}',
  "null",
];
