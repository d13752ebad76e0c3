import { encode } from "./encode.ts";
import type {
  AppendBytes,
  AppendText,
  BeginPart,
  CommitPart,
  Delta,
  ReplaceStructured,
  SetMetadata,
} from "../delta/delta.ts";
import type { CallId, PartId } from "../ids.ts";
import { isJsonObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { part } from "./content-codec.ts";
import {
  bytes,
  decodeBy,
  id,
  json,
  jsonObject,
  malformed,
  object,
  oneOf,
  tagged,
  text,
} from "./shape.ts";
import type { AnyShape, Decoded, Fields, Shape } from "./shape.ts";

type BeginBase = Pick<BeginPart, "op" | "partId">;
type Bare = BeginBase & { readonly kind: "text" | "reasoning" | "structured" };
type Called = BeginBase & {
  readonly kind: "tool_call" | "tool_result";
  readonly callId: CallId;
  readonly tool: string;
};
type Named<Kind extends "media" | "file" | "custom"> = Extract<BeginPart, { readonly kind: Kind }>;

const parts = id<PartId>();
const base = { op: oneOf<"begin_part">("begin_part"), partId: parts };
const bare = object<Bare>({
  ...base,
  kind: oneOf<"text" | "reasoning" | "structured">("text", "reasoning", "structured"),
});
const called = object<Called>({
  ...base,
  kind: oneOf<"tool_call" | "tool_result">("tool_call", "tool_result"),
  callId: id<CallId>(),
  tool: text,
});

/** A part can't be begun without knowing how it is filled, so a kind of a newer version is refused. */
const beginPart = tagged<BeginPart, "kind">(
  "kind",
  {
    text: bare,
    reasoning: bare,
    structured: bare,
    tool_call: called,
    tool_result: called,
    media: object<Named<"media">>({ ...base, kind: oneOf("media"), mediaType: text }),
    file: object<Named<"file">>({ ...base, kind: oneOf("file"), name: text, mediaType: text }),
    custom: object<Named<"custom">>({ ...base, kind: oneOf("custom"), name: text }),
  },
  refused("kind"),
);

export const delta: Shape<Delta> = tagged<Delta, "op">(
  "op",
  {
    begin_part: beginPart,
    append_text: operation<AppendText>("append_text", { chunk: text }),
    append_bytes: operation<AppendBytes>("append_bytes", { chunk: bytes }),
    replace_structured: operation<ReplaceStructured>("replace_structured", { value: json }),
    set_metadata: operation<SetMetadata>("set_metadata", { metadata: jsonObject }),
    commit_part: operation<CommitPart>("commit_part", { part }),
  },
  refused("op"),
);

/** Writes a delta as JSON. */
export function encodeDelta(value: Delta): JsonObject {
  return encode(delta, value);
}

/** Reads a delta from JSON. Never throws: what is malformed is a fault. */
export function decodeDelta(value: unknown): Decoded<Delta> {
  return decodeBy(delta, value);
}

function operation<T extends Delta>(
  op: T["op"],
  fields: Fields<Omit<T, "op" | "partId">>,
): Shape<T> {
  // All fields of the type: those of every operation, and the given ones.
  return object<T>({ op: oneOf(op), partId: parts, ...fields } as unknown as Fields<T>);
}

function refused(tag: string): AnyShape {
  return {
    decode: (value, path) => {
      const named = isJsonObject(value) && typeof value[tag] === "string";
      return malformed(path, `a known ${tag}`, named ? "unknown_op" : "malformed");
    },
  };
}
