/**
 * One thing that we promise, how far it holds today, and the tests that stand behind it. The table in
 * docs/promises.md is written from these entries by `npm run readme`.
 */
export interface PromiseEntry {
  readonly id: string;
  /** In plain words. */
  readonly promise: string;
  /** What of it holds so far, and in which part. What is not named here is not claimed. */
  readonly holds: string;
  /** Where it ends: what is not covered yet, and what no test of ours can show. */
  readonly limits: string;
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
const hostileModel = "tests/sessions/hostile-model.test.ts";
const crashPoints = "tests/temporal/crash-points/crash-points.perf.test.ts";
const crash = "tests/crash/crash.test.ts";
const fileStore = "packages/stores/src/file/conformance.test.ts";
const fileDamage = "packages/stores/src/file/damage.test.ts";
const fileProcesses = "packages/stores/src/file/processes.test.ts";
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
    limits: "Not text that a vendor itself damaged.",
    tests: [{ file: chunkingLaws }, { file: foldLaws }, { file: sseLaws }],
  },
  {
    id: "P2",
    promise: "Screen, log, file and database always agree.",
    holds:
      "In core and on the memory implementations: one fold for writer and readers, live, replayed, restored from a snapshot, sent over the wire or read back from a session file. On PostgreSQL and Redis: by the same rules, explored at random. What a page in Chromium shows after a fault is what is stored, letter by letter.",
    limits: "In one browser, Chromium.",
    tests: [
      { file: foldLaws },
      { file: applyLaws },
      { file: wireLaws },
      { file: memory, name: together },
      { file: fileStore },
      { file: "tests/order/real-order.test.ts" },
      { file: "tests/browser/faults.test.ts" },
    ],
  },
  {
    id: "P3",
    promise: '"Finished" means the provider said so.',
    holds:
      "For the five protocols, Bedrock included: a reply that is cut at any byte, in any of five ways, is whole only if the vendor's word for it had come.",
    limits: "Not that the vendor tells the truth.",
    tests: [{ file: truncationLaws }],
  },
  {
    id: "P4",
    promise: "A tool never runs on half a request.",
    holds:
      "A call runs only if its reply ended by asking for tools, its arguments are one sound JSON object that the tool's schema accepts, the tool was offered, and policy and person allow it. Nothing is repaired.",
    limits: "Not that the request is wise.",
    tests: [
      { file: argumentLaws },
      { file: hostileModel },
      { file: "packages/agent/src/tool/assess.test.ts" },
      { file: "packages/agent/src/loop/decide.property.test.ts" },
    ],
  },
  {
    id: "P5",
    promise: "No input can crash it, hang it or fill the memory.",
    holds:
      "For what core reads: deltas, tool arguments, messages on the wire, SSE frames and cursors; for what vendors answer; and for requests to our own server.",
    limits:
      "Headers that trickle in, and headers above 16 KiB, are left to the HTTP server that it is mounted in.",
    tests: [
      { file: "packages/server/src/serve/bad-input.test.ts" },
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
      "For text, reasoning, calls, stops and usage in OpenAI chat, OpenAI Responses, Anthropic Messages and Gemini.",
    limits: "Not signatures and ids, which are the vendor's own.",
    tests: [{ file: equalityLaws }],
  },
  {
    id: "P7",
    promise: "A committed part is never lost and never changed.",
    holds:
      "In a session file: lines are only appended, each sealed over the one before; a torn end is cut off and kept aside, a broken middle is refused, and verify finds every edit, gap and reorder up to an anchor. In PostgreSQL: a hash chain over the facts, and no right to change them for the application's role.",
    limits: "Lines cut off the end of a file are found only with an anchor.",
    tests: [
      { file: "packages/stores/src/postgres/verify.test.ts" },
      { file: fileDamage },
      { file: "packages/stores/src/file/torn.test.ts" },
      { file: crash },
    ],
  },
  {
    id: "P8",
    promise: "If we accepted your input, we have it, once.",
    holds:
      "In memory, in session files and in PostgreSQL: one input for each key, also when it is sent again after a crash or a lost answer; over HTTP by `Idempotency-Key`, on every mount.",
    limits: "A key belongs to its session, and lives as long.",
    tests: [
      { file: "tests/http/load.perf.test.ts" },
      { file: "packages/stores/src/postgres/lost.test.ts" },
      { file: memory },
      { file: fileStore },
      { file: crash },
    ],
  },
  {
    id: "P9",
    promise: "A turn is in the record whole or not at all.",
    holds:
      "In one process with session files: an item and its settlement are one line. Killed at every effect boundary, the record is a prefix of a legal session. On PostgreSQL: the server killed, and its connections cut at every point of every call.",
    limits: "A process or server that dies; not power loss.",
    tests: [
      { file: crash },
      { file: "packages/stores/src/postgres/killed.test.ts" },
      { file: "packages/stores/src/postgres/lost.test.ts" },
    ],
  },
  {
    id: "P10",
    promise: "A session can always be continued.",
    holds:
      "After any sequence of turns, stops, crashes, denials, time-outs, compactions, forks and changes of vendor, the next request passes a strict validator of each of five APIs.",
    limits: "Not that a vendor accepts the content.",
    tests: [
      { file: "tests/sessions/p10.test.ts" },
      { file: "tests/requests/six-formats.test.ts" },
      { file: transcriptLaws },
      { file: requestLaws },
    ],
  },
  {
    id: "P11",
    promise: "A tool call runs at most once, unless you declared it safe to repeat.",
    holds:
      "In one process with session files, and in workers of Temporal, counted outside the process that is killed. An outcome that was lost is shown as unknown.",
    limits:
      "Not what a system does that ignores the effect key. An operator who resets a workflow wants its calls again.",
    tests: [{ file: crash }, { file: crashPoints }, { file: "tests/temporal/zombies.test.ts" }],
  },
  {
    id: "P12",
    promise: "Never two drivers on one run.",
    holds:
      "In memory, in session files and in PostgreSQL: by lock and by fence; what a driver does that was superseded is refused.",
    limits: "What a superseded driver has done outside the store is not undone.",
    tests: [
      { file: "packages/stores/src/postgres/races.test.ts" },
      { file: "tests/supersession/overlaps.test.ts" },
      { file: "tests/supersession/frozen.test.ts" },
      { file: memory },
      { file: "packages/stores/src/file/lock.test.ts" },
      { file: fileProcesses },
      { file: "tests/temporal/zombies.test.ts" },
      { file: "tests/temporal/inline.test.ts" },
    ],
  },
  {
    id: "P13",
    promise: "After a crash or an outage, work goes on by itself.",
    holds:
      "A run whose driver was killed is taken over in seconds by another worker, also when all workers died. Redis or PostgreSQL may be killed, paused, emptied or cut off, and clocks may be an hour apart: nothing is lost or doubled, and afterwards every session moves within 5 seconds without being opened again. Driven by Temporal the same holds, also while Temporal and its database are killed and paused; a dead worker is noticed after the heartbeat's time-out.",
    limits:
      "On PostgreSQL, with a worker or an open session somewhere. While PostgreSQL is away nothing is accepted. A run that loses five drivers in a row, and nothing of it is stored meanwhile, fails.",
    tests: [
      { file: "tests/chaos/chaos.perf.test.ts" },
      { file: "tests/chaos/oracle.test.ts" },
      { file: "tests/kills/kills.perf.test.ts" },
      { file: "tests/outages/outages.perf.test.ts" },
      { file: "tests/clocks/clocks.perf.test.ts" },
      { file: crashPoints },
      { file: "tests/temporal/chaos.perf.test.ts" },
      { file: "tests/temporal/server-killed.test.ts" },
    ],
  },
  {
    id: "P14",
    promise: "Every effect leaves a trace before it happens.",
    holds: "Every effect that the crash suite counts outside has an earlier intent in the record.",
    limits: "One process with session files.",
    tests: [{ file: crash }],
  },
  {
    id: "P16",
    promise: "Reconnect with the last id and you see every event once, in order.",
    holds:
      "On memory, PostgreSQL and Redis, with lost, late and doubled announcements, lost logs, zombies, takeovers and resets, from every position of 200 recorded sessions; as server-sent events from the hub and over HTTP, in steps and in whole messages.",
    limits: "Over HTTP by hundreds of positions, not by all.",
    tests: [
      { file: "tests/positions/steps.test.ts" },
      { file: "tests/http/load.perf.test.ts" },
      { file: "tests/positions/positions.test.ts" },
      { file: "tests/order/order.test.ts" },
      { file: "tests/order/real-order.test.ts" },
      { file: "tests/conformance/delivery.test.ts" },
      { file: "packages/server/src/sse/deliver.test.ts" },
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
      "On memory, PostgreSQL and Redis: viewers at any speed, cut off or not, end in the state that the store has, to the last field, also when the writer is killed or stopped and another one goes on. So do pages in Chromium: refreshed, in several tabs, offline for 20 seconds, back from the back/forward cache, and while servers and workers are killed and rolled.",
    limits: "Not at the same moment. In one browser, Chromium.",
    tests: [
      { file: "tests/browser/faults.test.ts" },
      { file: "tests/browser/server-faults.test.ts" },
      { file: "tests/supersession/killed.test.ts" },
      { file: "tests/conformance/delivery.test.ts" },
      { file: deliveryLaws, name: "comes back with its cursor" },
      { file: memory, name: "end in the same state" },
    ],
  },
  {
    id: "P18",
    promise: "If we no longer have what you missed, we say so and give you the state.",
    holds:
      "On the memory store and log: every cursor that is malformed, foreign, from the future or too long brings a snapshot; a log that kept too little, or nothing, is filled by its writers.",
    limits: "As P16.",
    tests: [
      { file: deliveryLaws, name: "answered with a snapshot" },
      { file: memory, name: "keeps little" },
      { file: memory, name: "snapshot" },
    ],
  },
  {
    id: "P19",
    promise: "A slow or dead client harms nobody else.",
    holds:
      "In the hub: a viewer is an index, so one that does not read holds what its socket holds, and the others are told as soon as without it. One that lacks too much is ended and comes back; a socket that takes no byte for a minute is closed.",
    limits:
      "A half-open connection is found within a minute on Linux; elsewhere the kernel's own time holds.",
    tests: [
      { file: "packages/server/src/sse/stall.test.ts" },
      { file: "packages/server/src/sse/slow.perf.test.ts" },
      { file: "packages/server/src/hub/hub.test.ts" },
    ],
  },
  {
    id: "P21",
    promise: "A mass reconnect does not bring it down.",
    holds:
      "In the hub: 5,000 viewers whose server is killed are all served again within 30 seconds, none is cut off for another, and each session is read once in 100 ms at most. When Redis drops its connections no viewer is cut off, and 500 sessions cost one read each.",
    limits:
      "Clients choose themselves when they come back: tested with a random wait of up to 10 seconds.",
    tests: [
      { file: "tests/delivery/storm.perf.test.ts" },
      { file: "tests/delivery/connections.test.ts" },
    ],
  },
  {
    id: "P22",
    promise: "Redis can burn.",
    holds:
      "Flushed, killed, stopped, evicted, full and cut off at random moments under load: nothing committed is lost or changed, and every viewer converges within 10 seconds.",
    limits: "Tested on one Redis server, not on a cluster.",
    tests: [
      { file: "tests/burns/redis.perf.test.ts" },
      { file: "packages/stores/src/redis/burns.test.ts" },
    ],
  },
  {
    id: "P23",
    promise: "Stop means stop.",
    holds:
      "No request and no tool begins after a stop, what came is kept, and no process of a tool survives: children that fork, leave their session, ignore signals and hold pipes are ended.",
    limits: "On Linux. A process that also clears its environment needs the PID namespace.",
    tests: [
      { file: "packages/agent/src/process/process-stops.test.ts" },
      { file: "tests/sessions/abort.test.ts" },
    ],
  },
  {
    id: "P24",
    promise: "It cannot run away.",
    holds:
      "Every run ends within its turns, time, tokens, cost and repeated calls, asked before each spend; sub-agents spend their parent's. A run that kills its process ends: what was lost counts by an estimate, and five drivers lost in a row end it, inline, in workers and in Temporal.",
    limits:
      "At most one request more than the budget, since its price is known only afterwards. What a killed process has spent is an estimate.",
    tests: [
      { file: "tests/sessions/budgets.test.ts" },
      { file: "packages/agent/src/loop/limits.test.ts" },
      { file: "packages/agent/src/loop/lost.test.ts" },
      { file: "tests/poison/inline.test.ts" },
      { file: "tests/poison/workers.test.ts" },
      { file: "tests/poison/temporal.test.ts" },
    ],
  },
  {
    id: "P25",
    promise: "What you approved is exactly what runs.",
    holds:
      "An approval is bound to the hash of session, run, call, tool, its description and schema, the input, and what the schema made of it; both are shown, complete and escaped. Used once, by the first answer that is stored, which holds the hash, as the intent does. An answer that is not in the store is none, whatever Redis says.",
    limits: "Not the wisdom of the person.",
    tests: [
      { file: "packages/agent/src/tool/hash.property.test.ts" },
      { file: "tests/sessions/approvals.test.ts" },
      { file: "tests/forged/forged.test.ts" },
      { file: "tests/sessions/questions.test.ts" },
    ],
  },
  {
    id: "P26",
    promise: "Nobody sees or touches another tenant's runs.",
    holds:
      "In PostgreSQL: every statement names the tenant, and row-level security holds where one does not. Over HTTP every route and verb is tried by every role, and a foreign session looks like a missing one.",
    limits: "A name that is taken in a tenant is 409 to all of its users.",
    tests: [
      { file: "tests/http/matrix.test.ts" },
      { file: "packages/stores/src/postgres/tenants.test.ts" },
    ],
  },
  {
    id: "P34",
    promise: "What a vendor has seen of a session never changes.",
    holds:
      "Whatever happens between two requests (other instructions, tools, limits, models or accounts, a summary, a stop, a cut reply, a crash, an upgrade), the next one begins with the last one whose reply was kept, or a fact says why not. Stand-ins that enforce the documented rules of Anthropic, Bedrock, OpenAI Responses, Gemini and DeepSeek refuse nothing, also without the vendor's own net.",
    limits:
      "Stand-ins, not the vendors themselves. A hook that rewrites requests is noticed, not prevented.",
    tests: [
      { file: "tests/append-only/histories.test.ts" },
      { file: "tests/append-only/other-histories.test.ts" },
      { file: "tests/append-only/causes.test.ts" },
      { file: "tests/append-only/refused-reasoning.test.ts" },
      { file: "tests/append-only/refused-betas.test.ts" },
      { file: "tests/append-only/signed-summaries.test.ts" },
      { file: "tests/append-only/upgrade.test.ts" },
    ],
  },
];
