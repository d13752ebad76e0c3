import { expect, test } from "vitest";
import { StreamReader } from "../testing/stream-reader.ts";
import { name, SessionFixture } from "../testing/session-fixture.ts";
import { laneText } from "../testing/lane-text.ts";
import { createHub } from "../hub/hub.ts";
import { eventStreamHeaders } from "./headers.ts";
import { webSink } from "./web-sink.ts";

const turn = (): Promise<void> => new Promise((wake) => setTimeout(wake, 2));

test("a session is the body of a web response, and what is asked for by pulls comes whole", async () => {
  const session = await SessionFixture.open();
  const { store, log, clock, uid } = session;
  using hub = createHub({ store, log, clock });
  const sink = webSink();
  const ended = hub.deliver({ uid, sessionId: name }, sink);
  await sink.opened;
  const response = new Response(sink.stream, { headers: eventStreamHeaders });
  const writer = await session.start();
  await writer.write("größer 😀");
  await turn();
  const reader = new StreamReader();
  const text = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    reader.feed(text.decode(bytes, { stream: true }));
    if (reader.state && laneText(reader.state) === "größer 😀") break; // which cancels the stream
  }

  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(await ended).toEqual({});
});

test("a stream that is not pulled takes its buffer and one write, and goes on when it is read", async () => {
  const taken: string[] = [];
  let drains = 0;
  const sink = webSink({ bufferBytes: 10 });
  sink.bind({ drained: () => void (drains += 1), gone: () => taken.push("gone") });
  sink.open();
  expect(sink.write(Buffer.from("12345"))).toBe(true);
  expect(sink.write(Buffer.from("67890"))).toBe(false);
  await turn();
  expect(drains).toBe(0);
  const reader = sink.stream.getReader();
  await reader.read();
  await turn();
  expect(drains).toBe(1);
  expect(sink.write(Buffer.from("more"))).toBe(true);
  sink.end(Buffer.from("last"));
  for (let next = await reader.read(); !next.done; next = await reader.read())
    taken.push(Buffer.from(next.value).toString());

  expect(taken).toEqual(["67890", "more", "last"]);
});

test("a reader that takes nothing for the time of a stall is given up, and one that reads is not", async () => {
  for (const reads of [true, false]) {
    let gone = 0;
    const sink = webSink({ bufferBytes: 1, stallMs: 30 });
    sink.bind({ drained: () => undefined, gone: () => void (gone += 1) });
    sink.open();
    sink.write(Buffer.from("fills it"));
    const reader = sink.stream.getReader();
    if (reads) await reader.read();
    await new Promise((wake) => setTimeout(wake, 80));

    expect(gone).toBe(reads ? 0 : 1);
  }
});

test("no reader can change or detach what others are sent", async () => {
  const shared = Buffer.from("shared");
  const sinks = [webSink(), webSink()] as const;
  const chunks = await Promise.all(
    sinks.map(async (sink) => {
      sink.bind({ drained: () => undefined, gone: () => undefined });
      sink.open();
      sink.write(shared);
      const { value } = await sink.stream.getReader().read();
      return value;
    }),
  );
  structuredClone(chunks[0], { transfer: [chunks[0]?.buffer as ArrayBuffer] }); // as it was made

  expect(chunks[0]?.byteLength).toBe(0);
  expect([shared.toString(), Buffer.from(chunks[1] ?? []).toString()]).toEqual([
    "shared",
    "shared",
  ]);
});
