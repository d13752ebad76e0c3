import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { anthropic } from "@millrace/providers/anthropic";
import { redisLog } from "@millrace/stores/redis";
import { sessionUid } from "@millrace/core/writing";
import { inspect } from "node:util";
import { expect, it } from "vitest";

const megabyte = 1024 * 1024;

interface Answered {
  readonly code: string | undefined;
  /** How much of the body was read. */
  readonly bytes: number;
}

/** The answer to a body that repeats a piece up to 256 MB, as `fetch` gives it: already decoded. */
async function answerTo(
  piece: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const chunk = new TextEncoder().encode(piece.repeat(megabyte / piece.length));
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (bytes >= 256 * megabyte) return controller.close();
      bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const head = { "content-type": "text/event-stream", ...headers };
  const fetch = async (): Promise<Response> => new Response(body, { headers: head });
  const model = anthropic("m", { apiKey: "k", retry: false, fetch });
  const { cause } = await model.stream({ transcript: [] }).result;
  return { code: cause?.code, bytes };
}

it("a body that fetch inflates is cut at the limit of every compressed body", async () => {
  const { code, bytes } = await answerTo(`:${"c".repeat(1_021)}\n\n`, { "content-encoding": "br" });

  expect(code).toBe("body_too_large");
  expect(bytes).toBeLessThan(80 * megabyte);
});

it.each([
  ["a line without a field that never ends", "x"],
  ["lines of a field that no event has", `id: ${"1".repeat(1_019)}\n`],
])("%s is cut", async (_, piece) => {
  const { code, bytes } = await answerTo(piece, {});

  expect(code).toBe("event_too_large");
  expect(bytes).toBeLessThan(80 * megabyte);
});

it("a prompt of 60 MB is refused with what may be sent, and a long one is not", async () => {
  const agent = defineAgent({ model: scriptedModel([[say("ok")]]) });
  const session = await agent.open();
  const answer = await session.send("x".repeat(60_000_000)).accepted;
  const long = await session.send("x".repeat(8_000_000)).accepted;
  await session.close();

  expect(answer.accepted).toBe(false);
  expect(answer.accepted ? "" : answer.error.message).toMatch(/Send at most .* characters/);
  expect(long.accepted).toBe(true);
});

it.each([
  "redis://:HUNTER2/secret@127.0.0.1:99999",
  "redis://default:HUNTER2#secret@127.0.0.1:1",
  "http://default:HUNTER2secret@127.0.0.1:1",
])("the error of the address %s does not show its password", async (url) => {
  let error: unknown;
  try {
    await using log = redisLog({ url, timeoutMs: 200 });
    await log.read(sessionUid("u"), 0);
  } catch (thrown) {
    error = thrown;
  }

  expect(inspect(error, { depth: 10 })).toMatch(/redis/i);
  expect(inspect(error, { depth: 10 })).not.toContain("HUNTER2");
});
