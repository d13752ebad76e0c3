import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Json, JsonObject } from "../json.ts";
import { parseJsonText } from "../parse-json.ts";
import { delta, json, jsonObject, text } from "../testing/arbitraries.ts";
import { batch, fact, factsByType, snapshot } from "../testing/event-arbitraries.ts";
import { readJson } from "../testing/json-oracle.ts";
import { damagedText, jsonText } from "../testing/json-texts.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { decodeDelta, encodeDelta } from "./delta-codec.ts";
import { decodeMessage, encodeMessage } from "./message-codec.ts";
import type { Message } from "./message-codec.ts";
import type { Decoded, WireFault } from "./shape.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(100_000, 10_000_000);

const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 15, arbitrary: fact },
  { weight: 4, arbitrary: batch },
  { weight: 1, arbitrary: snapshot },
);

function comesBack(given: Message): boolean {
  const line = encodeMessage(given);
  const decoded = decodeMessage(line);
  return !line.includes("\n") && decoded.ok && isDeepStrictEqual(decoded.value, given);
}

function deltaComesBack(given: Parameters<typeof encodeDelta>[0]): boolean {
  const decoded = decodeDelta(readJson(JSON.stringify(encodeDelta(given))));
  return decoded.ok && isDeepStrictEqual(decoded.value, given);
}

// First of all, since it needs an engine that has not met too many other objects yet.
describe("keys with escapes", () => {
  it.each([
    ["\\", "\n"],
    ["\\", '"'],
    [String.raw`\u0001o`, "\u0001ommand"],
  ])("a message with the key %j does not change how one with %j is read", (before, key) => {
    const claimed = { v: 1, n: 1, sessionId: "s", time: 1, type: "item_committed" };
    const item = { id: "i", author: "user", parts: [], stop: "end" };
    const line = (name: string): string =>
      JSON.stringify({ ...claimed, item: { ...item, metadata: { zebra: 1, [name]: 2 } } });
    const kept = decodeMessage(line(before));

    const decoded = decodeMessage(line(key));

    expect(kept.ok).toBe(true);
    expect(decoded).toHaveProperty("value.item.metadata", { zebra: 1, [key]: 2 });
  });
});

it("a long text full of escapes comes back, also beside an escaped key", () => {
  const line = (key: string): string =>
    JSON.stringify({
      v: 1,
      n: 1,
      sessionId: "s",
      time: 1,
      type: "x",
      [key]: "\n".repeat(8_000_000),
    });

  for (const key of ["plain", 'a"b']) {
    const decoded = decodeMessage(line(key));

    expect(decoded.ok && encodeMessage(decoded.value) === line(key), key).toBe(true);
  }
});

describe("round trips", () => {
  it("a message comes back field by field, on one line", () => {
    const deltas = times / 4;
    const messages = times - deltas;

    fc.assert(fc.property(message, comesBack), { numRuns: messages });
    fc.assert(fc.property(delta, deltaComesBack), { numRuns: deltas });
    console.log(`count: P2 (wire), ${messages} messages and ${deltas} deltas, 0 failures`);
  });

  it.each(Object.entries(factsByType))("a fact of type %s comes back", (type, arbitrary) => {
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<Message>, (given) => {
        expect(given).toHaveProperty("type", type);
        return comesBack(given);
      }),
      { numRuns: Math.ceil(times / 500) },
    );
  });
});

describe("what can't be read", () => {
  it("no text and no JSON value breaks the decoder", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      text,
      jsonText,
      damagedText,
      json.map((value) => JSON.stringify(value)),
      message.map((given) => encodeMessage(given).slice(0, -1)),
    );

    fc.assert(
      fc.property(line, (given) => {
        check(decodeMessage(given));
      }),
      { numRuns: times / 4 },
    );
    fc.assert(
      fc.property(fc.oneof(json, fc.anything()), (given) => {
        check(decodeDelta(given));
      }),
      { numRuns: times / 4 },
    );
    console.log(`count: no text breaks the decoder, ${times / 2} inputs, 0 failures`);
  });

  it("a message with one field lost or changed is read, or refused at a place near that field", () => {
    const seen = { read: 0, refused: 0 };

    fc.assert(
      fc.property(message, fc.nat(), otherValue, (given, choice, other) => {
        const record = readJson(encodeMessage(given)) as JsonObject;
        const path = corrupt(record, choice, other);
        const decoded = decodeMessage(JSON.stringify(record));
        check(decoded);
        if (decoded.ok) {
          seen.read += 1;
          if (!comesBack(decoded.value)) throw new Error("read, but does not come back");
        } else {
          seen.refused += 1;
          if (!isNear(decoded.fault.path, path))
            throw new Error(`${decoded.fault.path} is blamed for ${path}`);
        }
      }),
      { numRuns: times / 4 },
    );

    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(times / 40);
    console.log(`count: one wrong field, ${times / 4} messages, 0 failures`);
  });

  it("a required field that is lost is named", () => {
    const lost = (from: object, field: string): WireFault | undefined => {
      const record = { ...from, [field]: undefined };
      const decoded = decodeMessage(JSON.stringify(record));
      return decoded.ok ? undefined : decoded.fault;
    };
    const started = { v: 1, n: 1, sessionId: "s", time: 1, type: "run_started", runId: "r" };

    for (const field of ["v", "n", "sessionId", "time", "runId"]) {
      expect(lost(started, field), field).toMatchObject({ code: "malformed", path: field });
    }
  });

  const item = { id: "i", author: "model", parts: [], stop: "end" };
  const callPart = { kind: "tool_call", id: "p", callId: "c", tool: "x", raw: "{}" };
  const picture = { kind: "media", id: "p", mediaType: "image/png" };
  const why = { code: "x", message: "x" };
  it.each<[string, JsonObject, string]>([
    ["a call without input or fault", { item: { ...item, parts: [callPart] } }, "item.parts[0]"],
    [
      "a call with both",
      { item: { ...item, parts: [{ ...callPart, input: {}, fault: { code: "x" } }] } },
      "item.parts[0]",
    ],
    [
      "a picture without bytes or address",
      { item: { ...item, parts: [picture] } },
      "item.parts[0]",
    ],
    [
      "a picture with both",
      { item: { ...item, parts: [{ ...picture, bytes: "", url: "x" }] } },
      "item.parts[0]",
    ],
    ["an item that was cut without a cause", { item: { ...item, stop: "aborted" } }, "item"],
    ["an item that is whole with a cause", { item: { ...item, cause: why } }, "item"],
    [
      "an item that was cut with evidence",
      { item: { ...item, stop: "failed", cause: why, evidence: 1 } },
      "item",
    ],
    ["an item with a lane and no epoch", { item, lane: 0 }, ""],
    ["an item with an epoch and no lane", { item, epoch: 1 }, ""],
    ["a failed run without a cause", { type: "run_finished", outcome: "failed" }, ""],
    ["a limited run without its limit", { type: "run_finished", outcome: "limited" }, ""],
  ])("%s is malformed", (_, fields, path) => {
    const base = { v: 1, n: 1, sessionId: "s", time: 1, type: "item_committed" };
    const run = { runId: "r", closes: 0 };
    const line = JSON.stringify({ ...base, ...run, ...fields });

    expect(decodeMessage(line)).toMatchObject({ ok: false, fault: { code: "malformed", path } });
  });

  it.each<[string, JsonObject]>([
    ["without events", { events: [] }],
    ["that ends before it begins", { first: 5, last: 4 }],
    ["from 0 that does not open its lane", { first: 0, last: 0 }],
  ])("a batch %s is malformed", (_, fields) => {
    const head = {
      type: "batch",
      v: 1,
      sessionId: "s",
      runId: "r",
      turnId: "t",
      itemId: "i",
      lane: 0,
      epoch: 1,
    };
    const legal = {
      ...head,
      first: 5,
      last: 5,
      head: 0,
      time: 1,
      events: [{ type: "lane_idled" }],
    };

    expect(decodeMessage(JSON.stringify(legal)).ok).toBe(true);
    expect(decodeMessage(JSON.stringify({ ...legal, ...fields }))).toMatchObject({
      ok: false,
      fault: { code: "malformed" },
    });
  });

  it("another version is reported as such", () => {
    fc.assert(
      fc.property(
        message,
        fc.integer().filter((version) => version !== 1),
        (given, version) => {
          const record = readJson(encodeMessage(given)) as JsonObject;
          const decoded = decodeMessage(JSON.stringify({ ...record, v: version }));

          expect(decoded).toMatchObject({
            ok: false,
            fault: { code: "unsupported_version", path: "v" },
          });
        },
      ),
      { numRuns: Math.ceil(times / 200) },
    );
  });

  it("a text that is nested a million deep does not exhaust the stack", () => {
    check(decodeMessage("[".repeat(1_000_000)));
    check(decodeMessage(`${'{"first":'.repeat(100_000)}1${"}".repeat(100_000)}`));
  });

  it("what is read can be written again, and what is nested too deep for that is refused", () => {
    const read = (type: string, depth: number): boolean => {
      const deep = '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
      const item = `{"id":"i","author":"user","parts":[],"stop":"end","metadata":${deep}}`;
      const line = `{"type":"${type}","v":1,"n":1,"sessionId":"s","time":1,"item":${item}}`;
      const decoded = decodeMessage(line);
      if (decoded.ok)
        expect(parseJsonText(encodeMessage(decoded.value))).toEqual(parseJsonText(line));
      return decoded.ok;
    };

    for (const type of ["item_committed", "hologram"]) {
      expect(read(type, 100), type).toBe(true);
      expect(read(type, 1_000), type).toBe(false);
      expect(read(type, 100_000), type).toBe(false);
    }
  });
});

describe("what a newer version wrote", () => {
  const envelope = { v: 1, n: 1, sessionId: "s", time: 1 };
  const opening = { type: "attempt_started", author: "model" };
  const head = {
    type: "batch",
    v: 1,
    sessionId: "s",
    runId: "r",
    turnId: "t",
    itemId: "i",
    lane: 0,
    epoch: 1,
  };
  const place = { ...head, first: 0, last: 1, head: 0, time: 1 };
  const newName = fc.constantFrom("hologram", "x_1", "opaque", "toString", "__proto__", "");

  /** Throws unless the record goes through this version unchanged. */
  function carried(record: Json): void {
    const decoded = decodeMessage(JSON.stringify(record));
    if (!decoded.ok) throw new Error(decoded.fault.message);
    const back = readJson(encodeMessage(decoded.value));
    if (!isDeepStrictEqual(back, record)) throw new Error(JSON.stringify(back));
  }

  it("a fact of an unknown type goes through unchanged", () => {
    fc.assert(
      fc.property(newName, jsonObject, (type, rest) => carried({ ...rest, ...envelope, type })),
      { numRuns: times / 20 },
    );
    console.log(`count: unknown facts are carried, ${times / 20} facts, 0 failures`);
  });

  it("a fact of an unknown type goes through unchanged, though its fields have names of ours", () => {
    const fields = "first last events lanes closedLanes closed head uid items input item".split(
      " ",
    );
    const named = fc.dictionary(fc.constantFrom(...fields), json, { noNullPrototype: true });

    fc.assert(
      fc.property(newName, named, (type, rest) => carried({ ...rest, ...envelope, type })),
      { numRuns: times / 20 },
    );
  });

  it("a live event of an unknown type and a part of an unknown kind go through unchanged", () => {
    fc.assert(
      fc.property(newName, jsonObject, (name, rest) => {
        const unknownPart = { ...rest, kind: name, id: "p" };
        const commit = { op: "commit_part", partId: "p", part: unknownPart };
        carried({ ...place, events: [opening, { ...rest, type: name }] });
        carried({ ...place, events: [opening, { type: "content_delta", delta: commit }] });
      }),
      { numRuns: times / 20 },
    );
    console.log(`count: unknown events and parts are carried, ${times / 10} batches, 0 failures`);
  });

  it("an unknown operation or kind of opening is refused as such, since it can't be folded", () => {
    const operation = { op: "splice_text", partId: "p" };
    const kind = { op: "begin_part", partId: "p", kind: "hologram" };
    const events = [opening, { type: "content_delta", delta: operation }];

    expect(decodeDelta(operation)).toMatchObject({
      ok: false,
      fault: { code: "unknown_op", path: "" },
    });
    expect(decodeDelta(kind)).toMatchObject({ ok: false, fault: { code: "unknown_op", path: "" } });
    expect(decodeDelta({ partId: "p" })).toMatchObject({ ok: false, fault: { code: "malformed" } });
    expect(decodeMessage(JSON.stringify({ ...place, events }))).toMatchObject({
      ok: false,
      fault: { code: "unknown_op", path: "events[1].delta" },
    });
  });

  it("an unknown field of a known record does no harm", () => {
    fc.assert(
      fc.property(message, json, (given, value) => {
        const line = JSON.stringify({ ...(readJson(encodeMessage(given)) as object), zz: value });
        const decoded = decodeMessage(line);
        if (!decoded.ok) throw new Error(decoded.fault.message);
        // A fact of an unknown type is the one record that carries it on.
        const known = !("type" in given) || given.type !== "opaque";
        return !known || isDeepStrictEqual(decoded.value, given);
      }),
      { numRuns: times / 50 },
    );
  });
});

/** Another type or range than most fields have; `undefined` deletes the field. */
const otherValue: fc.Arbitrary<Json | undefined> = fc.oneof(
  fc.constantFrom(undefined, null, true, -1, 0, 1.5, 2 ** 53, "", "x", "AAA", "opaque"),
  fc.constantFrom<Json>([], {}, [null], { kind: "text" }, { type: "run_started" }),
  json,
);

/** Changes one field of the record, chosen by a number, and returns its name. */
function corrupt(record: JsonObject, choice: number, other: Json | undefined): string {
  const places: { readonly owner: object; readonly key: string; readonly path: string }[] = [];
  const walk = (node: Json | undefined, path: string): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, child] of Object.entries(node)) {
      const here = Array.isArray(node) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      places.push({ owner: node, key, path: here });
      walk(child, here);
    }
  };
  walk(record, "");
  const { owner, key, path } = places[choice % places.length] as (typeof places)[number];
  if (other !== undefined) Object.assign(owner, { [key]: other });
  else if (Array.isArray(owner)) owner.splice(Number(key), 1);
  else Reflect.deleteProperty(owner, key);
  return path;
}

/** True if the blamed place is around the changed one, or within the same object. */
function isNear(blamed: string, changed: string): boolean {
  const parent = changed.replace(/(?:\.[^.[\]]*|\[\d+\]|^[^.[\]]*)$/, "");
  return blamed.startsWith(parent) || parent.startsWith(blamed);
}

/** The answer is one of the two that are promised. */
function check(decoded: Decoded<unknown>): void {
  if (decoded.ok) return;
  const { code, path, message: said } = decoded.fault;
  const codes = ["not_json", "malformed", "unknown_op", "unsupported_version"];
  if (!codes.includes(code) || typeof path !== "string" || said === "") throw new Error(said);
}
