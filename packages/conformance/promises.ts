/** One thing that we promise, how far it holds today, and the tests that stand behind it. */
export interface PromiseEntry {
  readonly id: string;
  /** In plain words. */
  readonly promise: string;
  /** What of it holds so far, and in which part. What is not named here is not claimed. */
  readonly holds: string;
  /** Files from the top folder; with a name, only the tests whose names contain it. */
  readonly tests: readonly { readonly file: string; readonly name?: string }[];
}

const foldLaws = "packages/core/src/delta/fold.property.test.ts";
const applyLaws = "packages/core/src/event/apply.property.test.ts";
const wireLaws = "packages/core/src/wire/codec.property.test.ts";
const sseLaws = "packages/core/src/wire/sse.property.test.ts";
const argumentLaws = "packages/core/src/content/arguments.property.test.ts";
const transcriptLaws = "packages/core/src/content/transcript.property.test.ts";
const deliveryLaws = "packages/conformance/src/delivery.property.test.ts";
const memory = "packages/conformance/src/memory.test.ts";
const latency = "packages/conformance/src/latency.test.ts";
const chunkingLaws = "packages/providers/src/chunking.property.test.ts";
const truncationLaws = "packages/providers/src/truncation.property.test.ts";
const equalityLaws = "packages/providers/src/equality.property.test.ts";
const requestLaws = "packages/providers/src/request.property.test.ts";
const transport = "packages/providers/src/transport/transport.test.ts";
/** The cases that drive a store and a log together. */
const together = "memorySessionStore and memoryEventLog";

/** What `npm run verify` proves. A promise that is not here has no proof yet. */
export const promises: readonly PromiseEntry[] = [
  {
    id: "P1",
    promise: "What the provider wrote is what you get, to the character.",
    holds:
      "From a vendor's bytes on: however bytes are cut into chunks, and text into deltas and batches, the parts are the same. Bytes that are not UTF-8 become U+FFFD, and that is told.",
    tests: [{ file: chunkingLaws }, { file: foldLaws }, { file: sseLaws }],
  },
  {
    id: "P2",
    promise: "Screen, log, file and database always agree.",
    holds:
      "In core and on the memory implementations: one fold for writer and readers, live, replayed, restored from a snapshot or sent over the wire. Not yet: file, Redis, PostgreSQL, browser.",
    tests: [
      { file: foldLaws },
      { file: applyLaws },
      { file: wireLaws },
      { file: memory, name: together },
    ],
  },
  {
    id: "P3",
    promise: '"Finished" means the provider said so.',
    holds:
      "For the four protocols: a reply that is cut at any byte, in any of five ways, is whole only if the vendor's word for it had come. Not yet: the loop's own record of a turn.",
    tests: [{ file: truncationLaws }],
  },
  {
    id: "P4",
    promise: "A tool never runs on half a request.",
    holds:
      "The half about arguments: a call has an input only if its text is one whole JSON object within the limits, and is never repaired, also when it comes from a vendor's bytes. Not yet: the loop that runs tools.",
    tests: [{ file: argumentLaws }, { file: equalityLaws }, { file: truncationLaws }],
  },
  {
    id: "P5",
    promise: "No input can crash it, hang it or fill the memory.",
    holds:
      "For what core reads: deltas, tool arguments, messages on the wire, SSE frames and cursors; and for what vendors answer. Not yet: requests to our own server.",
    tests: [
      { file: foldLaws },
      { file: argumentLaws },
      { file: wireLaws },
      { file: sseLaws },
      { file: "packages/core/src/wire/cursor-codec.test.ts" },
      { file: transport },
      { file: "packages/providers/src/framing/sse.test.ts" },
      { file: "packages/providers/src/abort.test.ts" },
    ],
  },
  {
    id: "P6",
    promise: "The same answer through any provider dialect gives the same parts.",
    holds:
      "For text, reasoning, calls, stops and usage in OpenAI chat, OpenAI Responses, Anthropic Messages and Gemini, but for signatures and ids, which are the vendor's own.",
    tests: [{ file: equalityLaws }],
  },
  {
    id: "P10",
    promise: 'A session can always be continued; it can never be "bricked".',
    holds:
      "The function: every transcript, however damaged, is repaired to a legal one in which each call has one answer, and becomes a request that passes a strict validator of each of four vendors. Not yet: the loop that uses it.",
    tests: [{ file: transcriptLaws }, { file: requestLaws }],
  },
  {
    id: "P16",
    promise: "Reconnect with the last id and you see every event once, in order.",
    holds:
      "On the memory store and log, with lost, late and doubled announcements, lost logs, zombies, takeovers and resets. Not yet: over HTTP, across processes.",
    tests: [
      { file: deliveryLaws, name: "comes back with its cursor" },
      { file: applyLaws },
      { file: memory, name: together },
      { file: latency, name: "a store and a log that answer late" },
    ],
  },
  {
    id: "P17",
    promise: "Everyone watching sees the same thing.",
    holds:
      "On the memory store and log: viewers at any speed, cut off or not, end in the state that the store has, to the last field.",
    tests: [
      { file: deliveryLaws, name: "comes back with its cursor" },
      { file: memory, name: "end in the same state" },
    ],
  },
  {
    id: "P18",
    promise: "If we no longer have what you missed, we say so and give you the state.",
    holds:
      "On the memory store and log: every cursor that is malformed, foreign, from the future or too long brings a snapshot; a log that kept too little, or nothing, is filled by its writers.",
    tests: [
      { file: deliveryLaws, name: "answered with a snapshot" },
      { file: memory, name: "keeps little" },
      { file: memory, name: "snapshot" },
    ],
  },
];
