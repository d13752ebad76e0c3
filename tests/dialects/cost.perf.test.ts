import { apply, emptyState } from "@millrace/core/reading";
import type { Followed } from "@millrace/core/reading";
import { runId, sessionId, sessionUid } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { SpokenSession } from "../../packages/core/src/testing/spoken-session.ts";
import { agUiStream } from "../../packages/server/src/dialects/ag-ui/ag-ui-stream.ts";
import { profiles } from "../../packages/server/src/dialects/ai-sdk/profiles.ts";
import { uiMessageStream } from "../../packages/server/src/dialects/ai-sdk/ui-message-stream.ts";
import { dialectEncoding } from "../../packages/server/src/dialects/dialect-encoding.ts";
import { completionStream } from "../../packages/server/src/dialects/openai/completion-voice.ts";
import { responseStream } from "../../packages/server/src/dialects/openai/response-voice.ts";
import type { Encoding } from "../../packages/server/src/encoding/encoding.ts";
import { steps } from "../../packages/server/src/encoding/steps.ts";
import { whole } from "../../packages/server/src/encoding/whole.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";

const uid = sessionUid("session_1");
const session = sessionId("refunds");

/** A reply of so many deltas as the hub's ring has it, with the state before each message. */
function replyOf(
  deltas: number,
): readonly { readonly before: ReturnType<typeof emptyState>; readonly followed: Followed }[] {
  const text = "Twenty characters aa".repeat(deltas);
  let state = emptyState(uid, session);
  return new SpokenSession(text, [], 20, 1).messages.map((message) => {
    const before = state;
    ({ state } = apply(state, message));
    const cursor = { uid, head: state.head, lanes: [] };
    return { before, followed: { message, cursor } };
  });
}

const run = runId("run_q1-0b6d2f84c97e4a15");
const dialect = dialectEncoding(
  uiMessageStream({
    uid,
    sessionId: session,
    runId: run,
    head: 0,
    live: 0,
    profile: profiles[7],
    blobUrl: (hash) => hash,
  }),
);

const agUi = dialectEncoding(
  agUiStream({
    uid,
    sessionId: session,
    runId: run,
    head: 0,
    live: 0,
    name: "cost",
    asked: { threadId: "refunds", runId: "r", isVersion1: true },
    begin: { kind: "start" },
    before: "",
    after: "",
    results: new Map(),
    blobUrl: (hash) => hash,
  }),
);

/** Microseconds and bytes of a delta for one viewer who is alone. */
function costOf(
  encoding: Encoding,
  deltas: number,
): { readonly us: number; readonly bytes: number } {
  const reply = replyOf(deltas);
  const shared = encoding.share();
  const encoder = shared.open();
  let bytes = 0;
  const start = process.cpuUsage();
  for (const { before, followed } of reply) {
    shared.applied(before, followed);
    bytes += encoder.encode([followed], true).length;
  }
  const { user, system } = process.cpuUsage(start);
  return { us: (user + system) / deltas, bytes: bytes / deltas };
}

it("a delta costs a viewer of AG-UI the same in a long reply as in a short one", async () => {
  costOf(agUi, 2_000); // compiles
  const measure = async () => ({ short: costOf(agUi, 2_000), long: costOf(agUi, 20_000) });
  const isFlat = (cost: Awaited<ReturnType<typeof measure>>): boolean =>
    cost.long.us < 3 * cost.short.us;
  const { short, long } = await retryWhenNoisy(measure, isFlat);
  console.log(
    `count: a delta of 20 characters to one viewer of AG-UI: ${short.us.toFixed(1)} us, ${short.bytes.toFixed(0)} bytes, in a reply of 20,000 ${long.us.toFixed(1)} us`,
  );
  expect(isFlat({ short, long })).toBe(true);
}, 120_000);

it("a delta costs a viewer of the AI SDK's dialect the same in a long reply as in a short one", async () => {
  for (const encoding of [dialect, whole, steps]) costOf(encoding, 2_000); // compiles
  const measure = async () => ({ short: costOf(dialect, 2_000), long: costOf(dialect, 20_000) });
  const isFlat = (cost: Awaited<ReturnType<typeof measure>>): boolean =>
    cost.long.us < 3 * cost.short.us;
  const cost = await retryWhenNoisy(measure, isFlat);
  const [asSteps, asWhole] = [costOf(steps, 2_000), costOf(whole, 2_000)];
  const say = ({ us, bytes }: typeof asSteps): string =>
    `${us.toFixed(1)} us, ${bytes.toFixed(0)} bytes`;
  console.log(
    `count: a delta of 20 characters to one viewer: AI SDK ${say(cost.short)}, in a reply of 20,000 ${say(cost.long)};`,
    `our steps ${say(asSteps)}, our whole messages ${say(asWhole)}, both shared by all viewers`,
  );
  expect(isFlat(cost)).toBe(true);
}, 120_000);

it("a delta costs a viewer of OpenAI's dialects the same in a long reply as in a short one", async () => {
  const leg = { uid, sessionId: session, runId: run, head: 0, from: 0 };
  const formats = {
    Responses: dialectEncoding(responseStream({ leg, facts: [] })),
    "chat completions": dialectEncoding(completionStream({ leg, facts: [] })),
  };
  for (const [name, format] of Object.entries(formats)) {
    costOf(format, 2_000); // compiles
    const measure = async () => ({ short: costOf(format, 2_000), long: costOf(format, 20_000) });
    const isFlat = (cost: Awaited<ReturnType<typeof measure>>): boolean =>
      cost.long.us < 3 * cost.short.us;
    const { short, long } = await retryWhenNoisy(measure, isFlat);
    console.log(
      `count: a delta of 20 characters to one viewer of ${name}: ${short.us.toFixed(1)} us, ${short.bytes.toFixed(0)} bytes, in a reply of 20,000 ${long.us.toFixed(1)} us`,
    );
    expect(isFlat({ short, long }), name).toBe(true);
    expect(short.bytes, name).toBeGreaterThan(20);
  }
}, 120_000);
