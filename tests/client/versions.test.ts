import { defineAgent } from "@millrace/agent";
import { createClient, memoryOutbox } from "@millrace/client";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, it, test } from "vitest";
import { until } from "../kit/until.ts";
import { serve } from "./kit/served.ts";
import { textOf } from "./kit/text-of.ts";

const words = Array.from({ length: 20 }, (_, at) => `word ${at}`).join(", ");
const agent = (): ReturnType<typeof defineAgent> =>
  defineAgent({ model: scriptedModel([[say(words)]], { delayMs: 2 }) });

/** A fetch behind a server of another release, which adds a text to each event of its streams. */
function withAdded(added: string): {
  readonly fetch: typeof fetch;
  readonly streams: () => number;
} {
  let count = 0;
  return {
    streams: () => count,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!(input as string).endsWith("/v1/events")) return response;
      count += 1;
      const text = new TextDecoder();
      const add = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, out) => {
          const all = text.decode(bytes, { stream: true }).replaceAll("\n\n", `\n\n${added}`);
          out.enqueue(new TextEncoder().encode(all));
        },
      });
      return new Response(response.body?.pipeThrough(add) ?? null, response);
    },
  };
}

it("messages of another version end the stream with an error that a page shows, until somebody reconnects", async () => {
  await using served = await serve(agent());
  const later = withAdded(`data: {"v":2,"type":"future"}\n\n`);
  using client = createClient({
    url: served.url,
    token: "ann",
    fetch: later.fetch,
    random: () => 0,
    outbox: memoryOutbox(),
  });
  const session = client.session("later");
  session.subscribe(() => undefined);
  await until(() => session.error !== undefined, "it is shown", { limitMs: 10_000 });
  expect(session.error?.code).toBe("unsupported_version");
  expect(client.connection).toBe("offline");
  expect(await session.send("Hi").accepted).toEqual({ accepted: true }); // what is sent is no stream
  await new Promise((resolve) => void setTimeout(resolve, 300));
  const { error, connection } = session;
  expect([error?.code, connection, later.streams()]).toEqual(["unsupported_version", "offline", 1]);
  client.reconnect();
  await until(() => later.streams() === 2, "it is tried again");
});

test.each([
  ["named events", `event: novelty\ndata: {"x":1}\n\n`],
  ["named events that are no JSON", `event: novelty\ndata: hello\n\n`],
  ["messages of unknown types", `data: {"v":1,"type":"weather_report"}\n\n`],
  ["comments and unknown fields", `: x\nnovel: yes\n\n`],
])("%s between the messages of a stream are ignored", async (_, added) => {
  await using served = await serve(agent());
  const later = withAdded(added);
  using client = createClient({
    url: served.url,
    token: "ann",
    fetch: later.fetch,
    outbox: memoryOutbox(),
  });
  const session = client.session("later");
  session.subscribe(() => undefined);
  expect(await session.send("Hi").text()).toBe(words);
  await until(() => textOf(session) === `Hi|${words}`, "it is shown");
  expect(session.error).toBeUndefined();
  expect(later.streams()).toBeLessThanOrEqual(2); // the session was missing when it was first asked for
});
