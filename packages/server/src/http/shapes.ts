import type { ObjectShape, Shape } from "./shape.ts";

/** The name of a session that is made over HTTP. It stands in a path as it is. */
export const sessionIdPattern = "^[A-Za-z0-9_][A-Za-z0-9._~-]{0,127}$";
/** An idempotency key. It has no `_`: ids below it are joined by that. */
export const keyPattern = "^[A-Za-z0-9-]{16,128}$";

/** A closed object. Names that end in `?` may be left out. */
export function fields(
  properties: Readonly<Record<string, Shape>>,
  more: Pick<ObjectShape, "oneOf" | "description"> = {},
): ObjectShape {
  const required = Object.keys(properties).filter((name) => !name.endsWith("?"));
  const named = Object.entries(properties).map(([name, shape]) => [name.replace(/\?$/, ""), shape]);
  return {
    type: "object",
    properties: Object.fromEntries(named) as Readonly<Record<string, Shape>>,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...more,
  };
}

/** The same, for answers: a client ignores fields that it does not know. */
export function openFields(properties: Readonly<Record<string, Shape>>): ObjectShape {
  return { ...fields(properties), additionalProperties: true };
}

/** Any text. */
export const text: Shape = { type: "string" };
/** True or false. */
export const flag: Shape = { type: "boolean" };
export const count: Shape = { type: "integer", minimum: 0 };
export const time: Shape = { type: "integer", minimum: 0, description: "Milliseconds since 1970" };
/** Any JSON object, of an application's own. */
export const anyFields: Shape = { type: "object", properties: {}, additionalProperties: true };

/** A text up to a length. */
export function shortText(maxLength: number, description?: string): Shape {
  return { type: "string", maxLength, ...(description === undefined ? {} : { description }) };
}

/** A list. */
export function listOf(items: Shape, maxItems?: number, minItems?: number): Shape {
  return {
    type: "array",
    items,
    ...(maxItems === undefined ? {} : { maxItems }),
    ...(minItems === undefined ? {} : { minItems }),
  };
}

/** A shape of the document's components. */
export function named(name: ComponentName): Shape {
  return { $ref: `#/components/schemas/${name}` };
}

const partId = shortText(256);
const source = { bytes: "bytes?", url: "url?", blob: "blob?" } as const;
const oneSource = {
  oneOf: [{ required: ["bytes"] }, { required: ["url"] }, { required: ["blob"] }],
} as const;
/** The content of a part: bytes in base64, an address, or an uploaded blob. */
const sourceFields: Readonly<Record<string, Shape>> = {
  [source.bytes]: {
    type: "string",
    maxLength: 43_692,
    description: "Base64, up to 32 KiB of bytes. Larger content is uploaded as a blob first.",
  },
  [source.url]: shortText(2_048),
  [source.blob]: fields({
    hash: { type: "string", pattern: "^sha256-[0-9a-f]{64}$" },
    "size?": count,
  }),
};

/** A part as a client may send it. Its id may be left out. */
const sentPart: Shape = {
  anyOf: [
    fields({ kind: { const: "text" }, "id?": partId, text, "metadata?": anyFields }),
    fields(
      {
        kind: { const: "file" },
        "id?": partId,
        name: shortText(1_024),
        mediaType: shortText(256),
        "metadata?": anyFields,
        ...sourceFields,
      },
      oneSource,
    ),
    fields(
      {
        kind: { const: "media" },
        "id?": partId,
        mediaType: shortText(256),
        "metadata?": anyFields,
        ...sourceFields,
      },
      oneSource,
    ),
    fields({
      kind: { const: "structured" },
      "id?": partId,
      value: { description: "Any JSON" },
      "metadata?": anyFields,
    }),
    fields({
      kind: { const: "custom" },
      "id?": partId,
      name: shortText(256),
      value: { description: "Any JSON" },
      "metadata?": anyFields,
    }),
  ],
};

/** What is sent to a session by a person. */
export const sentInput: ObjectShape = fields(
  {
    kind: { enum: ["prompt", "steer", "follow_up"] },
    "text?": { type: "string", minLength: 1, maxLength: 2 * 1_024 * 1_024 },
    "parts?": listOf(sentPart, 1_000, 1),
    "options?": anyFields,
  },
  { oneOf: [{ required: ["text"] }, { required: ["parts"] }] },
);

/** The names of shapes that answers share. */
export type ComponentName = "Session" | "Usage" | "Run" | "Approval" | "Blob" | "Problem";

/** Shapes that answers share, by the names that they have in the document. */
export const components: Readonly<Record<ComponentName, ObjectShape>> = {
  Session: openFields({
    id: text,
    "title?": text,
    metadata: anyFields,
    "owner?": text,
    "parent?": openFields({ sessionId: text, callId: text }),
    status: { enum: ["idle", "running", "paused"] },
    "runId?": text,
    head: count,
    createdAt: time,
    updatedAt: time,
    "usage?": { $ref: "#/components/schemas/Usage" },
    "inputId?": text,
  }),
  Usage: openFields({
    inputTokens: count,
    outputTokens: count,
    cachedTokens: count,
    "cacheWriteTokens?": count,
    "longCacheWriteTokens?": count,
    "reasoningTokens?": count,
    "cost?": { type: "number", description: "US dollars" },
  }),
  Run: openFields({
    runId: text,
    inputId: text,
    status: { enum: ["queued", "running", "paused", "finished"] },
    "outcome?": { enum: ["completed", "aborted", "limited", "failed"] },
    "limit?": text,
    "cause?": anyFields,
    text,
    "output?": { description: "Any JSON" },
    usage: { $ref: "#/components/schemas/Usage" },
    items: listOf(anyFields),
  }),
  Approval: openFields({
    id: text,
    sessionId: text,
    callId: text,
    tool: text,
    input: { description: "Any JSON" },
    hash: text,
    askedAt: time,
    "expiresAt?": time,
  }),
  Blob: openFields({ hash: text, size: count, mediaType: text }),
  Problem: openFields({
    type: text,
    title: text,
    status: { type: "integer", minimum: 400, maximum: 599 },
    code: text,
    detail: text,
    retryable: flag,
    instance: text,
    "pointer?": text,
    "policy?": text,
    "limit?": count,
    "supported?": { description: "Any JSON" },
  }),
};
