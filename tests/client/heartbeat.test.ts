import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import { manualClock, say, scriptedModel } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const agent = defineAgent({
  model: scriptedModel(Array.from({ length: 6 }, () => [say("Yes.")])),
});

/** A way to a server on which the first stream can lose its bytes, as behind a network that went away without a sign. */
function silencing(): {
  readonly fetch: typeof fetch;
  isSilent: boolean;
  readonly streams: () => number;
} {
  let streams = 0;
  const network = {
    isSilent: false,
    streams: () => streams,
    fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const response = await fetch(input, init);
      if (!response.url.endsWith("/v1/events") || response.body === null) return response;
      streams += 1;
      const isFirst = streams === 1;
      const some = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, out) => {
          if (!(isFirst && network.isSilent)) out.enqueue(bytes);
        },
      });
      return new Response(response.body.pipeThrough(some), response);
    },
  };
  return network;
}

test.each([
  ["that the server names", { heartbeatMs: 2_000 }, 6_000],
  ["of 15 seconds, which servers have by default", {}, 45_000],
] as const)(
  "a connection that is lost without a sign is given up after three heartbeats %s",
  async (_, streams, silenceMs) => {
    await using served = await serve(agent, { streams });
    const network = silencing();
    const clock = manualClock();
    const { fetch } = network;
    using client = createClient({ url: served.url, token: "ann", fetch, clock, random: () => 0 });
    using other = createClient({ url: served.url, token: "ann" });
    await other.session("shared").send("First").result;
    const session = client.session("shared");
    session.subscribe(() => undefined);
    await until(() => textOf(session) === "First|Yes.", "it is shown");
    network.isSilent = true;
    await other.session("shared").send("Second").result;

    await clock.advance(silenceMs - 1);
    expect([network.streams(), textOf(session)]).toEqual([1, "First|Yes."]);
    await clock.advance(1);
    const isShown = async (): Promise<boolean> => {
      await clock.advance(1);
      return textOf(session) === "First|Yes.|Second|Yes.";
    };
    await until(isShown, "what was missed is shown");
    expect(network.streams()).toBe(2);
  },
);

test("a person who asks for a connection while the page counts as live gets a new one", async () => {
  await using served = await serve(agent);
  const network = silencing();
  const { fetch } = network;
  using client = createClient({ url: served.url, token: "ann", fetch });
  using other = createClient({ url: served.url, token: "ann" });
  await other.session("shared").send("First").result;
  const session = client.session("shared");
  session.subscribe(() => undefined);
  await until(() => textOf(session) === "First|Yes.", "it is shown");
  network.isSilent = true;
  await other.session("shared").send("Second").result;

  client.reconnect();
  await until(() => textOf(session) === "First|Yes.|Second|Yes.", "what was missed is shown", {
    limitMs: 10_000,
  });
});
