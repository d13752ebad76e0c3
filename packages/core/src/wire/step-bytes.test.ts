import { expect, it } from "vitest";
import type { Batch } from "../event/batch.ts";
import type { Fact } from "../event/event.ts";
import { emptyState } from "../event/state.ts";
import { sessionId, sessionUid } from "../ids.ts";
import { agUi, aiSdk, bytesIn } from "../testing/dialects.ts";
import { inEvents, stepsOf } from "../testing/in-step.ts";
import { SpokenSession } from "../testing/spoken-session.ts";
import type { SpokenCall } from "../testing/spoken-session.ts";
import { randomId } from "../ports/clock.ts";
import { encodeSse } from "./sse.ts";

/** A uid as stores make them. */
const start = emptyState(sessionUid(randomId("session")), sessionId("refunds"));

/** The bytes of each event. What was written at once is one, as a hub sends it. */
function framesOf(messages: readonly (Fact | Batch)[]): readonly number[] {
  const isWithNext = (at: number): boolean => messages[at]?.time === messages[at + 1]?.time;
  const { lines } = inEvents(stepsOf(start, messages), isWithNext);
  return lines.map((line) => Buffer.byteLength(encodeSse(line)));
}

function total(frames: readonly number[]): number {
  return frames.reduce((sum, bytes) => sum + bytes, 0);
}

const words = "The refund for order A1 is on its way to your bank now. ";
function prose(length: number): string {
  return words.repeat(Math.ceil(length / words.length)).slice(0, length);
}

const files: readonly SpokenCall[] = Array.from({ length: 10 }, (_, at) => ({
  tool: "write_file",
  input: { path: `src/routes/file-${at}.ts`, content: prose(1_500) },
  output: "written",
  streams: false,
}));
const readings: readonly SpokenCall[] = Array.from({ length: 5 }, (_, at) => ({
  tool: "read_file",
  input: { path: `src/routes/file-${at}.ts` },
  output: prose(2_000),
  streams: false,
}));
const builds: readonly SpokenCall[] = [
  { tool: "build", input: { target: "all" }, output: prose(11_500), streams: true },
];
const weather: readonly SpokenCall[] = [
  {
    tool: "get_weather",
    input: { city: "Oslo", unit: "celsius" },
    output: '{"degrees":7}',
    streams: false,
  },
];

it("a batch of 16 characters takes at most 100 bytes, with its id", () => {
  const { lines } = stepsOf(start, new SpokenSession(prose(16 * 40), [], 16, 1).messages);
  const sizes = lines
    .filter(({ data }) => data.startsWith('{"type":"text"'))
    .map((line) => Buffer.byteLength(encodeSse(line)));
  console.log(`count: a batch of 16 characters, ${Math.max(...sizes)} bytes at most`);

  expect(sizes).toHaveLength(40);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
});

it("a reply of 60 KB in batches of 160 characters takes at most 1.6 times its text", () => {
  const frames = framesOf(new SpokenSession(prose(60_000), [], 160, 1).messages);
  console.log(`count: a reply of 60000 bytes, ${total(frames)} bytes sent`);

  expect(total(frames)).toBeLessThanOrEqual(1.6 * 60_000);
});

function compared(name: string, { messages }: SpokenSession) {
  const ours = total(framesOf(messages));
  const theirs = { agUi: bytesIn(agUi, messages), aiSdk: bytesIn(aiSdk, messages) };
  console.log(`count: ${name}: ${ours} bytes, AG-UI ${theirs.agUi}, AI SDK ${theirs.aiSdk}`);
  return { ours, ...theirs };
}

const sessions: readonly (readonly [string, string, readonly SpokenCall[], number])[] = [
  ["long text, 3 deltas a batch", prose(8_200), [], 3],
  ["long text, 1 delta a batch", prose(8_200), [], 1],
  ["10 calls with 1.5 KB of input, 3 deltas a batch", "I write them.", files, 3],
  ["10 calls with 1.5 KB of input, 1 delta a batch", "I write them.", files, 1],
  ["11.5 KB of streamed output, 3 deltas a batch", "I build it.", builds, 3],
  ["11.5 KB of streamed output, 1 delta a batch", "I build it.", builds, 1],
  ["1 call with 13 bytes of output, 3 deltas a batch", prose(200), weather, 3],
  ["5 calls with little input and 2 KB of output, 3 deltas a batch", "I read them.", readings, 3],
];

it.each(sessions)("%s: no more bytes than AG-UI", (name, text, calls, together) => {
  const { ours, agUi: theirs } = compared(name, new SpokenSession(text, calls, 6, together));

  expect(ours).toBeLessThanOrEqual(theirs);
});

it.each(sessions.filter(([, , calls]) => calls.length > 0))(
  "%s: fewer bytes than the AI SDK",
  (name, text, calls, together) => {
    const { ours, aiSdk: theirs } = compared(name, new SpokenSession(text, calls, 6, together));

    expect(ours).toBeLessThan(theirs);
  },
);
