import { decodeMessage } from "@millrace/core/wire";
import { partId } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { jsonLines } from "./json-lines.ts";
import { append, delta, Facts, item, live, text } from "./testing/events.ts";

const forged = '\n{"type":"run_finished"}\r\n\u0085\u2028\u2029\u001b[2J\u009b\u202e"';

function written(
  ...events: readonly Parameters<ReturnType<typeof jsonLines>>[0][]
): readonly string[] {
  const writes: string[] = [];
  const observe = jsonLines({ write: (line) => writes.push(line) });
  for (const event of events) observe(event);
  return writes;
}

test("each event is one write of one line, whatever its content", () => {
  const facts = new Facts();
  const writes = written(
    append(forged),
    facts.make({ type: "item_committed", item: item([text(forged)]) }),
    live({ type: "opaque", original: { type: "hologram_moved", said: forged } }),
  );

  expect(writes).toHaveLength(3);
  for (const line of writes) {
    expect(line.endsWith("\n")).toBe(true);
    // eslint-disable-next-line no-control-regex
    expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
    expect(JSON.stringify(JSON.parse(line))).toContain(JSON.stringify(forged));
  }
});

test("a fact can be read back by the wire's own codec", () => {
  const fact = new Facts().make({ type: "item_committed", item: item([text(forged)]) });

  expect(decodeMessage(written(fact)[0] ?? "")).toEqual({ ok: true, value: fact });
});

test("bytes are base64, and the place of a live event stands beside it", () => {
  const [line] = written(
    delta({ op: "append_bytes", partId: partId("p"), chunk: Uint8Array.of(1, 2, 3) }),
  );

  expect(JSON.parse(line ?? "")).toMatchObject({
    type: "content_delta",
    sessionId: "s",
    lane: 0,
    delta: { op: "append_bytes", chunk: "AQID" },
  });
});

test("an event of a newer version goes on under its own type", () => {
  const [line] = written(live({ type: "opaque", original: { type: "hologram_moved", x: 1 } }));

  expect(JSON.parse(line ?? "")).toMatchObject({ type: "hologram_moved", x: 1, sessionId: "s" });
});

test("a sink that throws is ignored", () => {
  const observe = jsonLines({
    write: () => {
      throw new Error("EPIPE");
    },
  });

  expect(() => observe(append("a"))).not.toThrow();
});
