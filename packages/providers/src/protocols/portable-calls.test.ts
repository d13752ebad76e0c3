import { callId, partId } from "@millrace/core/writing";
import { expect, test } from "vitest";
import type { Halt, NativeTool, Operation } from "../protocol.ts";
import type { Reading } from "../reply.ts";
import { withPortableCalls } from "./portable-calls.ts";

const [first, second] = [partId("p1"), partId("p2")];
const bash: NativeTool = {
  names: ["bash"],
  read: ({ command }) => (typeof command === "string" ? { commands: [command] } : undefined),
};
const native: ReadonlyMap<string, NativeTool> = new Map([
  ["bash", bash],
  ["memory", { names: ["memory"] }],
]);

const begin = (tool: string, id = first): Operation => ({
  op: "begin_part",
  partId: id,
  kind: "tool_call",
  callId: callId("c"),
  tool,
});
const append = (chunk: string, id = first): Operation => ({
  op: "append_text",
  partId: id,
  chunk,
});
const close = (more: object = {}): Operation => ({ op: "close_part", partId: first, ...more });

/** A protocol whose events are its operations. */
const echo: Reading<readonly Operation[], null> = {
  initial: () => null,
  step: (state, operations) => ({ state, operations }),
  halt: (): Halt => ({ operations: [], ending: { stop: "end" } }),
};

/** The operations of all events, and of the end. */
function read(...events: readonly (readonly Operation[])[]): readonly Operation[] {
  const reading = withPortableCalls(echo, native);
  let state = reading.initial({ model: "m", tools: [], takenCallIds: new Set() });
  const operations = events.flatMap((event) => {
    const stepped = reading.step(state, event);
    state = stepped.state;
    return stepped.operations;
  });
  return [...operations, ...reading.halt(state, { kind: "over" }).operations];
}

test("a call is held until it is whole, and then has the portable input and what the vendor wrote", () => {
  const raw = '{"command": "ls"}';

  const made = read([begin("bash")], [append(raw.slice(0, 5))], [append(raw.slice(5)), close()]);

  expect(made).toEqual([
    begin("bash"),
    append('{"commands":["ls"]}'),
    close({ opaque: { native: { tool: "bash", raw } } }),
  ]);
});

test("opaque data of the protocol stay beside what the vendor wrote", () => {
  const made = read([begin("bash"), append('{"command":"ls"}'), close({ opaque: { id: "x" } })]);

  expect(made.at(-1)).toMatchObject({
    opaque: { id: "x", native: { tool: "bash", raw: '{"command":"ls"}' } },
  });
});

test("a tool whose input is portable already, and every other part, passes as it comes", () => {
  const events = [
    [begin("memory"), append('{"a"')],
    [append(":1}"), { op: "begin_part", partId: second, kind: "text" } as const],
    [append("words", second), close()],
  ];

  expect(read(...events)).toEqual(events.flat());
});

test.each([
  ["that is no JSON", "{ls"],
  ["that is no object", "[1]"],
  ["that nobody can read", '{"other":1}'],
  ["with a lone surrogate", '{"command":"\uD800"}'],
])("input %s stays as the vendor wrote it", (_, raw) => {
  const made = read([begin("bash"), append(raw), close()]);

  expect(made[1]).toEqual(append(raw));
  expect(made[2]).toMatchObject({ op: "close_part", opaque: { native: { raw } } });
});

test.each(['{"command":"rm -rf /tmp', '{"command":"ls"}'])(
  "a call with a fault keeps its text and its fault: %s",
  (raw) => {
    const fault = { code: "truncated" } as const;

    const made = read([begin("bash"), append(raw), close({ fault })]);

    expect(made.slice(1)).toMatchObject([append(raw), { fault }]);
  },
);

test("a full text that contradicts the streamed one is passed on, so that the reply fails", () => {
  const [streamed, whole] = ['{"command":"ls"}', '{"command":"rm"}'];

  const made = read([begin("bash"), append(streamed), close({ whole })]);

  expect(made.slice(1)).toMatchObject([append(streamed), { whole }]);
});

test("a full text that was not streamed is read", () => {
  const made = read([begin("bash"), close({ whole: '{"command":"ls"}' })]);

  expect(made[1]).toEqual(append('{"commands":["ls"]}'));
});

test("what has come of a call that is still open is shown when the reply ends", () => {
  expect(read([begin("bash")], [append('{"comm')])).toEqual([begin("bash"), append('{"comm')]);
});

test("an input that is longer than any call is not held", () => {
  const long = "x".repeat(1_000_001);

  const made = read(
    [begin("bash"), append('{"command":"')],
    [append(long)],
    [append('"}'), close()],
  );

  expect(made).toEqual([begin("bash"), append(`{"command":"${long}`), append('"}'), close()]);
});
