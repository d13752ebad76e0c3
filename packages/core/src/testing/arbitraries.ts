import fc from "fast-check";

import type { ArgumentFault } from "../content/arguments.ts";
import type {
  Author,
  Cause,
  CutStop,
  Ending,
  Item,
  StopReason,
  WholeStop,
} from "../content/item.ts";
import type { BlobRef } from "../content/blob.ts";
import type { Part, ResultStatus, ToolCallPart } from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { BeginPart, Delta, PartOpening } from "../delta/delta.ts";
import * as ids from "../ids.ts";
import { isForbiddenKey } from "../json.ts";
import type { Json, JsonObject, Metadata } from "../json.ts";

// Everything here is in wire-legal form: plain objects, well-formed text, no -0, no unsafe integer,
// so that a value and what a codec makes of it can be compared field by field.

/** Texts that break naive framing, escaping, key handling or cutting. */
const awkwardTexts: readonly string[] = [
  "",
  " ",
  "\u0000",
  "\n",
  "\r\n",
  "a\rb",
  "\n\nevent: forged\nid: 9\ndata: x\n\n",
  "\u2028\u2029",
  "\uFEFFx",
  "😀",
  "e\u0301",
  '"\\/\b',
  "__proto__",
  "constructor",
  "</script>",
  "\u001b[2J",
  "x".repeat(300),
];

export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(...awkwardTexts) },
);

/** Numbers that JSON text holds exactly. */
const jsonNumber: fc.Arbitrary<number> = fc
  .oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value) => (Number.isInteger(value) && !Number.isSafeInteger(value) ? 0.5 : value)),
  )
  .map((value) => (value === 0 ? 0 : value));

const jsonKey: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom("a", "b", "constructor", "toString", "then", "", "ключ", "😀"),
    fc.string({ maxLength: 6 }),
  )
  .filter((key) => !isForbiddenKey(key, "constructor"));

const { json: jsonTree, object: jsonTreeObject } = fc.letrec<{ json: Json; object: JsonObject }>(
  (tie) => ({
    json: fc.oneof(
      { maxDepth: 4, depthSize: "small", withCrossShrink: true },
      { weight: 1, arbitrary: fc.constantFrom<Json>(null, true, false) },
      { weight: 2, arbitrary: jsonNumber },
      { weight: 2, arbitrary: text },
      { weight: 1, arbitrary: fc.array(tie("json"), { maxLength: 4 }) },
      { weight: 1, arbitrary: tie("object") },
    ),
    object: fc.dictionary(jsonKey, tie("json"), { maxKeys: 4, noNullPrototype: true }),
  }),
);
export const json: fc.Arbitrary<Json> = jsonTree;
export const jsonObject: fc.Arbitrary<JsonObject> = jsonTreeObject;
const metadata: fc.Arbitrary<Metadata> = jsonTreeObject;

/** A few names that collide often, and some at the limits of an id. */
const idText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "d") },
  { weight: 2, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom("i".repeat(256), "😀".repeat(128), "a:again", "\n") },
);
export const partId: fc.Arbitrary<ids.PartId> = idText.map(ids.partId);
export const itemId: fc.Arbitrary<ids.ItemId> = idText.map(ids.itemId);
export const callId: fc.Arbitrary<ids.CallId> = idText.map(ids.callId);
export const sessionId: fc.Arbitrary<ids.SessionId> = idText.map(ids.sessionId);
export const runId: fc.Arbitrary<ids.RunId> = idText.map(ids.runId);
export const turnId: fc.Arbitrary<ids.TurnId> = idText.map(ids.turnId);
export const inputId: fc.Arbitrary<ids.InputId> = idText.map(ids.inputId);
export const approvalId: fc.Arbitrary<ids.ApprovalId> = idText.map(ids.approvalId);
export const sessionUid: fc.Arbitrary<ids.SessionUid> = fc
  .stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
  .map(ids.sessionUid);

/** A whole number of 0 or more, mostly small. */
export const count: fc.Arbitrary<number> = fc.oneof(fc.nat(20), fc.maxSafeNat());
const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 24 });

type Fields<T> = { readonly [Key in keyof T]-?: fc.Arbitrary<Exclude<T[Key], undefined>> };

/** Plain objects of a type. The named fields are left out now and then. */
export function record<T extends object>(
  fields: Fields<T>,
  optional: readonly (keyof T)[] = [],
): fc.Arbitrary<T> {
  const requiredKeys = (Object.keys(fields) as (keyof T)[]).filter(
    (key) => !optional.includes(key),
  );
  // The table has an entry for each field of the type, and only optional ones are left out.
  return fc.record(fields, { requiredKeys, noNullPrototype: true });
}

/** Two records as one object. */
export function both<A extends object, B extends object>(
  left: fc.Arbitrary<A>,
  right: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> {
  return fc.tuple(left, right).map(([one, other]) => ({ ...one, ...other }));
}

const partBase: fc.Arbitrary<{ readonly id: ids.PartId; readonly metadata?: Metadata }> = record(
  { id: partId, metadata },
  ["metadata"],
);

const argumentFault: fc.Arbitrary<ArgumentFault> = record<ArgumentFault>(
  {
    code: fc.constantFrom("truncated", "bad_json", "duplicate_key", "not_an_object"),
    at: count,
    key: text,
  },
  ["at", "key"],
);

/** A call whose raw text parses to its input, or one with a fault. */
const toolCall: fc.Arbitrary<ToolCallPart> = both(
  both(
    partBase,
    record({ kind: fc.constant("tool_call" as const), callId, tool: text, opaque: json }, [
      "opaque",
    ]),
  ),
  fc.oneof(
    jsonObject.map((input) => ({ input, raw: JSON.stringify(input) })),
    record({ fault: argumentFault, raw: text }),
  ),
);

export const status: fc.Arbitrary<ResultStatus> = fc.constantFrom(
  "ok",
  "failed",
  "denied",
  "aborted",
  "unknown",
);
const blob: fc.Arbitrary<BlobRef> = record({
  hash: fc.string({
    unit: fc.constantFrom(..."0123456789abcdef".split("")),
    minLength: 64,
    maxLength: 64,
  }),
  size: fc.nat(),
}).map(({ hash, size }) => ({ hash: `sha256-${hash}`, size }));
const source: fc.Arbitrary<
  { readonly bytes: Uint8Array } | { readonly url: string } | { readonly blob: BlobRef }
> = fc.oneof(record({ bytes }), record({ url: text }), record({ blob }));

/** A part of a kind that this version does not know. */
const opaquePart: fc.Arbitrary<Part> = fc
  .tuple(partId, fc.constantFrom("hologram", "opaque", "Text", ""), jsonObject)
  .map(([id, kind, rest]) => ({ kind: "opaque", id, original: { ...rest, kind, id } }));

export const part: fc.Arbitrary<Part> = fc.oneof(
  both(partBase, record({ kind: fc.constant("text" as const), text })),
  both(
    partBase,
    record({ kind: fc.constant("reasoning" as const), text, opaque: json }, ["opaque"]),
  ),
  toolCall,
  both(
    partBase,
    record(
      {
        kind: fc.constant("tool_result" as const),
        callId,
        tool: text,
        status,
        text,
        output: json,
        synthetic: fc.constant(true as const),
      },
      ["output", "synthetic"],
    ),
  ),
  both(both(partBase, record({ kind: fc.constant("media" as const), mediaType: text })), source),
  both(
    both(partBase, record({ kind: fc.constant("file" as const), name: text, mediaType: text })),
    source,
  ),
  both(partBase, record({ kind: fc.constant("structured" as const), value: json })),
  both(partBase, record({ kind: fc.constant("custom" as const), name: text, value: json })),
  opaquePart,
);

export const amount: fc.Arbitrary<number> = fc.oneof(fc.nat(1_000_000), fc.constantFrom(0.5, 1e-9));
export const usage: fc.Arbitrary<Usage> = record<Usage>(
  {
    inputTokens: amount,
    outputTokens: amount,
    cachedTokens: amount,
    cacheWriteTokens: amount,
    longCacheWriteTokens: amount,
    reasoningTokens: amount,
    cost: amount,
  },
  ["cacheWriteTokens", "longCacheWriteTokens", "reasoningTokens", "cost"],
);

export const cause: fc.Arbitrary<Cause> = record<Cause>(
  { code: text, message: text, retryable: fc.boolean(), evidence: json },
  ["retryable", "evidence"],
);
const wholeStop: fc.Arbitrary<WholeStop> = fc.constantFrom(
  "end",
  "tools",
  "length",
  "filtered",
  "paused",
);
const cutStop: fc.Arbitrary<CutStop> = fc.constantFrom("aborted", "truncated", "failed");
export const stopReason: fc.Arbitrary<StopReason> = fc.oneof(wholeStop, cutStop);
const ending: fc.Arbitrary<Ending> = fc.oneof(
  record<{ stop: WholeStop; evidence?: Json }>({ stop: wholeStop, evidence: json }, ["evidence"]),
  record<{ stop: CutStop; cause: Cause }>({ stop: cutStop, cause }),
);

export const author: fc.Arbitrary<Author> = fc.constantFrom("user", "model", "tool", "agent");
type ItemBody = Omit<Item, keyof Ending>;
export const item: fc.Arbitrary<Item> = both(
  record<ItemBody>(
    { id: itemId, author, parts: fc.array(part, { maxLength: 3 }), usage, model: text, metadata },
    ["usage", "model", "metadata"],
  ),
  ending,
);

const opening: fc.Arbitrary<PartOpening> = fc.oneof(
  record<PartOpening>({ kind: fc.constantFrom("text", "reasoning", "structured") }),
  record<PartOpening & { callId: ids.CallId; tool: string }>({
    kind: fc.constantFrom("tool_call", "tool_result"),
    callId,
    tool: text,
  }),
  record<PartOpening & { mediaType: string }>({ kind: fc.constant("media"), mediaType: text }),
  record<Extract<PartOpening, { kind: "file" }>>({
    kind: fc.constant("file"),
    name: text,
    mediaType: text,
  }),
  record<Extract<PartOpening, { kind: "custom" }>>({ kind: fc.constant("custom"), name: text }),
);
const beginPart: fc.Arbitrary<BeginPart> = both(
  record({ op: fc.constant("begin_part" as const), partId }),
  opening,
);

/** One delta, legal on the wire. It may be illegal at its place in a draft. */
export const delta: fc.Arbitrary<Delta> = fc.oneof(
  beginPart,
  record({ op: fc.constant("append_text" as const), partId, chunk: text }),
  record({ op: fc.constant("append_bytes" as const), partId, chunk: bytes }),
  record({ op: fc.constant("replace_structured" as const), partId, value: json }),
  record({ op: fc.constant("set_metadata" as const), partId, metadata }),
  record({ op: fc.constant("commit_part" as const), partId, part }),
);
