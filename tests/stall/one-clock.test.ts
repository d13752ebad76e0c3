// The loop's watch and the transport's, over a real socket and on one simulated clock: while the loop
// drives there is one clock for silence, and it is the agent's setting.
import { defineAgent } from "@millrace/agent";
import type { AgentSettings, RunResult } from "@millrace/agent";
import type { RunEvent } from "@millrace/core";
import { manualClock } from "@millrace/core/testing";
import type { ManualClock } from "@millrace/core/testing";
import { anthropic } from "@millrace/providers/anthropic";
import { startVendorServer } from "@millrace/providers/testing";
import type { HttpReply } from "@millrace/providers/testing";
import { expect, it } from "vitest";

const minute = 60_000;
const once = { attempts: 1, baseMs: 1, capMs: 1 };
const event = (value: { readonly type: string }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const ping = event({ type: "ping" });
const opening = event({
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", content: [], model: "m", usage: {} },
} as { readonly type: string });

const thinking: HttpReply = { body: ping, repeat: Infinity, delayMs: 5 };
const silent: HttpReply = { body: opening, end: "stay_open" };
const headersOnly: HttpReply = { body: "", end: "stay_open" };
const unanswered: HttpReply = { body: "", headersDelayMs: Infinity };

interface Story {
  readonly result: RunResult | undefined;
  readonly minutes: number;
  readonly reports: number;
}

/** Asks a vendor that never answers, and lets simulated time pass until the run ends. */
async function ask(
  reply: HttpReply,
  settings: Partial<AgentSettings<[]>> & { readonly idle?: number } = {},
  most = 70 * minute,
): Promise<Story> {
  const asked = Promise.withResolvers<void>();
  const answer = (): HttpReply => {
    asked.resolve();
    return reply;
  };
  await using server = await startVendorServer({ replies: answer });
  const clock: ManualClock = manualClock();
  const { idle, ...given } = settings;
  const timeouts = { requestMs: Infinity, ...(idle === undefined ? {} : { idleMs: idle }) };
  const model = anthropic("claude-sonnet-5", {
    apiKey: "key",
    baseUrl: server.url,
    clock,
    timeouts,
  });
  let reports = 0;
  const count = ({ type }: RunEvent): void => void (reports += type === "stalled" ? 1 : 0);
  const agent = defineAgent({ model, retry: once, observers: [count], ...given });
  const session = await agent.open({ clock });
  const ended: RunResult[] = [];
  void session.send("think").result.then((came) => ended.push(came));
  await asked.promise; // connecting has a clock of its own, which this is not about
  while (ended.length === 0 && clock.now() < most) {
    await clock.advance(minute / 2);
    await new Promise((resolve) => setTimeout(resolve, 6));
  }
  const story = { result: ended[0], minutes: Math.round(clock.now() / minute), reports };
  const closing = session.close();
  await clock.advance(minute);
  await closing;
  return story;
}

it.each([
  ["has begun and sends nothing more", silent],
  ["has sent its headers and nothing more", headersOnly],
  ["has not answered yet", unanswered],
])("a vendor that %s is given up by the agent's setting alone", async (_, reply) => {
  const patient = await ask(reply, { stall: { giveUpAfterMs: 60 * minute } });
  const quick = await ask(reply, { stall: { giveUpAfterMs: 2 * minute } });

  expect(patient.result).toMatchObject({ outcome: "failed", cause: { code: "stalled" } });
  expect(patient.minutes).toBe(60);
  expect(patient.reports).toBe(119); // every half minute, by one clock, and none at the end
  expect(quick.result).toMatchObject({ outcome: "failed", cause: { code: "stalled" } });
  expect(quick.minutes).toBe(2);
});

it("a vendor that sends pings only is given up after three times the agent's setting, and not asked again", async () => {
  const { result, minutes } = await ask(thinking, {
    stall: { giveUpAfterMs: 20 * minute },
    retry: { ...once, attempts: 3 },
  });

  expect(result).toMatchObject({
    outcome: "failed",
    cause: {
      code: "stalled",
      retryable: false,
      message: expect.stringContaining("keep-alives") as string,
    },
  });
  expect(minutes).toBe(60);
});

it("a vendor that pings for over an hour is waited for if stall is false, and nothing is reported", async () => {
  expect(await ask(thinking, { stall: false })).toEqual({
    result: undefined,
    minutes: 70,
    reports: 0,
  });
});

it("a limit for connections without a byte that is set on the provider holds under the loop too", async () => {
  const settings = { stall: { giveUpAfterMs: 60 * minute }, idle: 5 * minute };

  const { result } = await ask(silent, settings);

  expect(result).toMatchObject({ outcome: "failed", cause: { code: "idle_timeout" } });
});
