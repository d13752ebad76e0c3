import { expect, test } from "vitest";
import type { Part } from "../content/part.ts";
import { callId, partId } from "../ids.ts";
import type { Delta } from "./delta.ts";
import { defaultDraftLimits } from "./draft.ts";
import { emptyDraft } from "./empty-draft.ts";
import type { DraftLimits } from "./draft.ts";
import { commitOf } from "./commit.ts";
import { fold, foldAll } from "./fold.ts";
import { verify } from "./verify.ts";

const id = partId("p");
const other = partId("q");
const begin: Delta = { op: "begin_part", partId: id, kind: "text" };
const media: Delta = { op: "begin_part", partId: id, kind: "media", mediaType: "image/png" };
const file: Delta = { op: "begin_part", partId: id, kind: "file", name: "a", mediaType: "b/c" };
const custom: Delta = { op: "begin_part", partId: id, kind: "custom", name: "chart" };
const called: Delta = {
  op: "begin_part",
  partId: id,
  kind: "tool_call",
  callId: callId("c"),
  tool: "t",
};
const small: DraftLimits = { ...defaultDraftLimits, parts: 1, text: 4, arguments: 4, bytes: 2 };

function append(chunk: string): Delta {
  return { op: "append_text", partId: id, chunk };
}

function bytes(...list: readonly number[]): Delta {
  return { op: "append_bytes", partId: id, chunk: Uint8Array.from(list) };
}

function commit(part: Part): Delta {
  return { op: "commit_part", partId: id, part };
}

const text: Part = { kind: "text", id, text: "ab" };
const call: Part = { kind: "tool_call", id, callId: callId("c"), tool: "t", raw: "{}", input: {} };
const half = "\ud83d";
const cases: readonly [string, readonly Delta[], string, DraftLimits?][] = [
  ["unknown_part", [append("a")], "append_text before begin_part"],
  ["part_exists", [begin, begin], "begin_part after begin_part"],
  ["part_exists", [commit(text), begin], "begin_part after begin_part"],
  ["part_committed", [commit(text), append("a")], "append_text after commit_part"],
  ["part_committed", [commit(text), commit(text)], "commit_part after commit_part"],
  ["wrong_kind", [begin, bytes(1)], "append_bytes on a part of kind text"],
  ["wrong_kind", [media, append("a")], "append_text on a part of kind media"],
  [
    "wrong_kind",
    [begin, { op: "replace_structured", partId: id, value: 1 }],
    "replace_structured on a part of kind text",
  ],
  ["malformed_text", [begin, append(half)], "half a surrogate pair; pass chunks through wholeText"],
  ["malformed_text", [commit({ ...text, text: half })], "half a surrogate pair"],
  ["malformed_text", [{ ...called, tool: half }], "half a surrogate pair in a name or type"],
  ["malformed_text", [{ ...custom, name: half }], "half a surrogate pair in a name or type"],
  ["malformed_text", [{ ...media, mediaType: half }], "half a surrogate pair in a name or type"],
  [
    "malformed_text",
    [commit({ kind: "media", id, mediaType: "a/b", url: half })],
    "half a surrogate pair in a name or type",
  ],
  [
    "malformed_value",
    [custom, { op: "replace_structured", partId: id, value: half }],
    "not plain JSON within the limits: malformed_text",
  ],
  [
    "malformed_value",
    [begin, { op: "set_metadata", partId: id, metadata: { a: half } }],
    "not plain JSON within the limits: malformed_text",
  ],
  [
    "malformed_value",
    [commit({ ...text, metadata: { a: half } })],
    "not plain JSON within the limits: malformed_text",
  ],
  [
    "malformed_value",
    [commit({ kind: "reasoning", id, text: "", opaque: half })],
    "not plain JSON within the limits: malformed_text",
  ],
  [
    "malformed_value",
    [commit({ kind: "structured", id, value: half })],
    "not plain JSON within the limits: malformed_text",
  ],
  [
    "malformed_value",
    [commit({ kind: "opaque", id, original: { a: half } })],
    "not plain JSON within the limits: malformed_text",
  ],
  ["part_too_large", [begin, append("abcde")], "text beyond its limit", small],
  ["part_too_large", [called, append("abcde")], "tool_call beyond its limit", small],
  ["part_too_large", [media, bytes(1, 2), bytes(3)], "media beyond its limit", small],
  [
    "part_too_large",
    [commit({ ...text, text: "abcde" })],
    "a part has at most 4 characters",
    small,
  ],
  [
    "part_too_large",
    [commit({ ...call, raw: "{    }" })],
    "a part has at most 4 characters",
    small,
  ],
  [
    "part_too_large",
    [commit({ kind: "media", id, mediaType: "a/b", bytes: Uint8Array.of(1, 2, 3) })],
    "a part has at most 2 bytes",
    small,
  ],
  [
    "too_many_parts",
    [begin, { op: "begin_part", partId: other, kind: "text" }],
    "an item has at most 1 parts",
    small,
  ],
  [
    "too_many_parts",
    [begin, { op: "commit_part", partId: other, part: { ...text, id: other } }],
    "an item has at most 1 parts",
    small,
  ],
  [
    "commit_mismatch",
    [begin, { op: "commit_part", partId: id, part: { ...text, id: other } }],
    "its id is q",
  ],
  [
    "commit_mismatch",
    [begin, commit({ kind: "reasoning", id, text: "" })],
    "its kind is not what was streamed",
  ],
  ["commit_mismatch", [begin, append("a"), commit(text)], "its text is not what was streamed"],
  [
    "commit_mismatch",
    [begin, { op: "set_metadata", partId: id, metadata: { a: 1 } }, commit(text)],
    "its metadata is not what was streamed",
  ],
  [
    "commit_mismatch",
    [called, commit({ ...call, callId: callId("d") })],
    "its call id is not what was streamed",
  ],
  [
    "commit_mismatch",
    [called, commit({ ...call, tool: "u" })],
    "its tool is not what was streamed",
  ],
  ["commit_mismatch", [called, append("[]"), commit(call)], "its text is not what was streamed"],
  [
    "commit_mismatch",
    [commit({ ...call, input: { a: 1 } })],
    "its input is not that of its raw text",
  ],
  ["commit_mismatch", [commit({ ...call, raw: "[]" })], "its input is not that of its raw text"],
  [
    "commit_mismatch",
    [media, commit({ kind: "media", id, mediaType: "x/y", bytes: Uint8Array.of() })],
    "its media type is not what was streamed",
  ],
  [
    "commit_mismatch",
    [
      media,
      bytes(1, 2),
      commit({ kind: "media", id, mediaType: "image/png", bytes: Uint8Array.of(1, 3) }),
    ],
    "its content is not what was streamed",
  ],
  [
    "commit_mismatch",
    [
      media,
      bytes(1, 2),
      commit({ kind: "media", id, mediaType: "image/png", bytes: Uint8Array.of(1) }),
    ],
    "its content is not what was streamed",
  ],
  [
    "commit_mismatch",
    [media, bytes(1), commit({ kind: "media", id, mediaType: "image/png", url: "x" })],
    "its content is not what was streamed",
  ],
  [
    "commit_mismatch",
    [file, commit({ kind: "file", id, name: "z", mediaType: "b/c", url: "x" })],
    "its name is not what was streamed",
  ],
  [
    "commit_mismatch",
    [custom, commit({ kind: "custom", id, name: "map", value: 1 })],
    "its name is not what was streamed",
  ],
  [
    "commit_mismatch",
    [
      custom,
      { op: "replace_structured", partId: id, value: 1 },
      commit({ kind: "custom", id, name: "chart", value: 2 }),
    ],
    "its value is not what was streamed",
  ],
];

test.each(cases)(
  "%s: the fault says which part and what to look for",
  (code, deltas, message, limits = defaultDraftLimits) => {
    const draft = foldAll(emptyDraft(limits), deltas);

    expect(draft.fault).toEqual({ code, partId: deltas.at(-1)?.partId, message });
    // What came before the fault is as it was.
    const before = foldAll(emptyDraft(limits), deltas.slice(0, -1));
    expect(before.fault).toBeUndefined();
    expect(draft.parts).toEqual(before.parts);
  },
);

test("what is neither streamed nor known may come whole with the commit", () => {
  const whole: readonly (readonly Delta[])[] = [
    [begin, commit({ ...text, metadata: { a: 1 } })],
    [media, commit({ kind: "media", id, mediaType: "image/png", url: "x" })],
    [custom, commit({ kind: "custom", id, name: "chart", value: [1] })],
    [
      called,
      commit({
        kind: "tool_call",
        id,
        callId: callId("c"),
        tool: "t",
        raw: "[]",
        fault: { code: "not_an_object" },
      }),
    ],
    [commit({ kind: "opaque", id, original: { kind: "x", id: "p" } })],
  ];

  for (const deltas of whole) expect(foldAll(emptyDraft(), deltas).fault).toBeUndefined();
});

test("limits are reached, not passed", () => {
  expect(foldAll(emptyDraft(small), [begin, append("ab"), append("cd")]).fault).toBeUndefined();
  expect(foldAll(emptyDraft(small), [called, append("{  }")]).fault).toBeUndefined();
  expect(foldAll(emptyDraft(small), [media, bytes(1), bytes(2)]).fault).toBeUndefined();
  expect(foldAll(emptyDraft(small), [commit({ ...text, text: "abcd" })]).fault).toBeUndefined();
});

test("the newest of several parts is found, and so is the oldest", () => {
  const second: Delta = { op: "begin_part", partId: other, kind: "text" };
  const draft = foldAll(emptyDraft(), [
    begin,
    second,
    append("one"),
    { op: "append_text", partId: other, chunk: "two" },
  ]);

  expect(verify(draft, begin)?.code).toBe("part_exists");
  expect(verify(draft, second)?.code).toBe("part_exists");
  expect(commitOf(draft, id)).toMatchObject({ part: { text: "one" } });
  expect(commitOf(draft, other)).toMatchObject({ part: { text: "two" } });
  expect(commitOf(draft, partId("none"))).toBeUndefined();
  expect(commitOf(fold(draft, commit({ ...text, text: "one" })), id)).toBeUndefined();
});

test("text beyond one tail keeps every character, one by one and in batches", () => {
  const chunks = Array.from({ length: 1_000 }, (_, at) => append(`${at % 10}`.repeat(7)));
  const text = chunks.map((delta) => (delta.op === "append_text" ? delta.chunk : "")).join("");
  const open = fold(emptyDraft(), begin);

  const each = chunks.reduce(fold, open);
  const batch = foldAll(open, chunks);

  expect(commitOf(each, id)).toMatchObject({ part: { text } });
  expect(commitOf(batch, id)).toMatchObject({ part: { text } });
  for (const draft of [each, batch]) {
    const [part] = draft.parts;
    // The newest text is kept apart only as long as it is short.
    if (part?.state === "open") expect(part.tail.length).toBeLessThan(2_048);
    if (part?.state === "open") expect(part.settled.length).toBeGreaterThan(4_000);
  }
});

test("a chunk of bytes is copied, so its buffer can be used again", () => {
  const buffer = Uint8Array.of(1, 2);
  const draft = foldAll(emptyDraft(), [media, { op: "append_bytes", partId: id, chunk: buffer }]);
  buffer.fill(9);

  expect(commitOf(draft, id)).toMatchObject({ part: { bytes: Uint8Array.of(1, 2) } });
});

test("a draft with a fault takes nothing more", () => {
  const faulty = foldAll(emptyDraft(), [begin, begin]);

  expect(fold(faulty, append("a"))).toBe(faulty);
  expect(foldAll(faulty, [append("a"), append("b")])).toBe(faulty);
});
