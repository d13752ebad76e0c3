import { apply, emptyState } from "@millrace/core/reading";
import type { Followed } from "@millrace/core/reading";
import { runId, sessionId, sessionUid } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { SpokenSession } from "../../packages/core/src/testing/spoken-session.ts";
import { agUiStream } from "../../packages/dialects/src/ag-ui/encode/ag-ui-stream.ts";
import { profiles } from "../../packages/dialects/src/ai-sdk/encode/profiles.ts";
import { uiMessageStream } from "../../packages/dialects/src/ai-sdk/encode/ui-message-stream.ts";
import { dialectEncoding } from "../../packages/dialects/src/shared/encode/dialect-encoding.ts";
import { completionStream } from "../../packages/dialects/src/openai/encode/completion-encoder.ts";
import { responseStream } from "../../packages/dialects/src/openai/encode/response-encoder.ts";
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

interface Cost {
  readonly us: number;
  readonly bytes: number;
}

/** Microseconds and bytes of a delta for one viewer who is alone, over so many replies. */
function costOf(encoding: Encoding, deltas: number, replies: number): Cost {
  const reply = replyOf(deltas);
  let bytes = 0;
  const start = process.cpuUsage();
  for (let count = 0; count < replies; count += 1) {
    const shared = encoding.share();
    const encoder = shared.open();
    for (const { before, followed } of reply) {
      shared.applied(before, followed);
      bytes += encoder.encode([followed], true).length;
    }
  }
  const { user, system } = process.cpuUsage(start);
  return { us: (user + system) / deltas / replies, bytes: bytes / deltas / replies };
}

/** Measures a dialect, and expects that a delta of one long reply costs what those of ten short ones do. */
async function flatCost(name: string, encoding: Encoding): Promise<string> {
  costOf(encoding, 2_000, 1); // compiles
  const measure = async (): Promise<{ readonly short: Cost; readonly long: Cost }> => ({
    short: costOf(encoding, 2_000, 10),
    long: costOf(encoding, 20_000, 1),
  });
  const isFlat = (cost: Awaited<ReturnType<typeof measure>>): boolean =>
    cost.long.us < 3 * cost.short.us;
  const cost = await retryWhenNoisy(measure, isFlat);
  expect(isFlat(cost), name).toBe(true);
  expect(cost.short.bytes, name).toBeGreaterThan(20);
  return `${name} ${say(cost.short)}, in a reply of 20,000 ${say(cost.long)}`;
}

function say({ us, bytes }: Cost): string {
  return `${us.toFixed(1)} us, ${bytes.toFixed(0)} bytes`;
}

it("a delta costs a viewer of a dialect the same in a long reply as in a short one", async () => {
  const segment = { uid, sessionId: session, runId: run, head: 0, from: 0 };
  const costs = [
    await flatCost("AI SDK", dialect),
    await flatCost("AG-UI", agUi),
    await flatCost("Responses", dialectEncoding(responseStream({ segment, facts: [] }))),
    await flatCost("chat completions", dialectEncoding(completionStream({ segment, facts: [] }))),
  ];
  for (const own of [steps, whole]) costOf(own, 2_000, 1); // compiles
  const [asSteps, asWhole] = [costOf(steps, 2_000, 10), costOf(whole, 2_000, 10)];
  console.log(
    `count: a delta of 20 characters to one viewer: ${costs.join("; ")};`,
    `our steps ${say(asSteps)}, our whole messages ${say(asWhole)}, both shared by all viewers`,
  );
}, 120_000);
