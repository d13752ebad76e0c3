import { callId, itemId, partId } from "@millrace/core/writing";
import type {
  Item,
  Json,
  JsonObject,
  Part,
  ResultStatus,
  ToolCallPart,
  ToolResultPart,
} from "@millrace/core";
import type { VendorTool } from "@millrace/core/model";
import type { ModelRequest, RequestSettings, ToolDescription } from "@millrace/core/ports";
import type { Ending } from "@millrace/core/writing";
import { Random } from "../../../../tests/kit/random.ts";
import type { NativeCopies, NativeReply } from "./native-replies.ts";
import { drawSettings, withPartOptions } from "./settings/draw.ts";
import { TranscriptParts } from "./transcript-parts.ts";

/** The target of the transcripts: a protocol, a model, and its replies. */
export interface Native {
  readonly protocol: string;
  readonly model: string;
  readonly replies: readonly NativeCopies[];
  /** The replies with data that only their vendor can read. */
  readonly rich: readonly NativeCopies[];
}

/**
 * Generates a request with a transcript that may be legal or damaged in any known way. The same
 * seed gives the same request. Most of the model's items come from `home`, some from the others.
 */
export function generateRequest(seed: number, natives: readonly Native[]): GeneratedRequest {
  const random = new Random(seed);
  const home = natives[seed % natives.length] as Native;
  const writer = new Writer(random, natives, home);
  const instructions = random.pick([undefined, "be kind", "", " \n", "líne 1\nline 2 "]);
  const settings = random.pick(settingsOf[home.protocol] ?? [undefined]);
  const tools = random.chance(0.5) ? toolsOf(random) : undefined;
  const transcript = withPartOptions(random, writer.write());
  const output = random.chance(0.3) ? random.pick(outputs) : undefined;
  const shared = drawSettings(random);
  return { home, transcript, instructions, tools, output, settings, shared };
}

export interface GeneratedRequest extends ModelRequest {
  /** The model that wrote most of it. The settings are for it alone. */
  readonly home: Native;
  /** Settings for any vendor. */
  readonly shared: RequestSettings;
}

const effort = { reasoning: { effort: "low", summary: "auto" } };
const thinking = { thinking: { type: "enabled", budget_tokens: 2000 }, max_tokens: 4000 };
const settingsOf: Readonly<Record<string, readonly (JsonObject | undefined)[]>> = {
  "openai-chat": [
    undefined,
    { temperature: 0 },
    { reasoning_effort: "high" },
    { response_format: null },
  ],
  "openai-responses": [
    undefined,
    effort,
    { store: true },
    { max_output_tokens: 100 },
    { text: { verbosity: "low" }, instructions: "from the settings" },
  ],
  "anthropic-messages": [
    undefined,
    thinking,
    thinking,
    { thinking: { type: "adaptive" } },
    { thinking: { type: "disabled" }, max_tokens: 1 },
    { output_config: { effort: "low" } },
  ],
  gemini: [undefined, { generationConfig: { temperature: 0 } }],
  "bedrock-converse": [
    undefined,
    { additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2000 } } },
    { inferenceConfig: { maxTokens: 100 }, additionalModelResponseFieldPaths: ["/stop_sequence"] },
    { system: [{ text: "from the settings" }, { cachePoint: { type: "default" } }] },
  ],
};

const toolNames = [
  "look",
  "get_weather",
  "bash",
  "a.b",
  "a/b",
  "a_b",
  "1st",
  "ü",
  "n".repeat(128),
  "mcp__fs__write",
  "_x9",
];
const schemas: readonly Json[] = [
  { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  { type: "object", properties: {}, additionalProperties: false },
  { type: "object" },
  { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: {} },
  { type: "object", properties: {}, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
  { anyOf: [{ type: "object", properties: { a: { type: "string" } } }, { type: "null" }] },
  { type: ["object", "null"], properties: null },
  {},
  true,
  {
    oneOf: [
      { type: "object", properties: { op: { const: "add" }, n: { type: "number" } } },
      { $ref: "#/$defs/remove" },
    ],
    $defs: {
      remove: { type: "object", properties: { op: { const: "remove" }, of: { $ref: "#" } } },
    },
  },
  { $ref: "#/definitions/it", definitions: { it: { allOf: [{ $ref: "#/definitions/it" }] } } },
];

/** Schemas that no object fits. */
const noObjects: readonly Json[] = [{ type: "array", items: { type: "string" } }, false];

const closed = { type: "object", additionalProperties: false } as const;
const city = { type: "string", description: "shape of a city" };
const shapes: readonly Json[] = [
  { ...closed, properties: { city }, required: ["city"] },
  { ...closed, properties: { city, size: { type: "integer", minimum: 1 } }, required: ["city"] },
  {
    ...closed,
    properties: { at: { $ref: "#/$defs/place" }, more: { type: "array", items: city } },
    required: ["at", "more"],
    $defs: { place: { ...closed, properties: { city }, required: ["city"] } },
  },
  {
    ...closed,
    properties: { tree: { $ref: "#/$defs/node" } },
    required: ["tree"],
    $defs: {
      node: {
        ...closed,
        properties: { city, below: { type: "array", items: { $ref: "#/$defs/node" } } },
        required: ["city", "below"],
      },
    },
  },
  {
    ...closed,
    properties: { at: { description: "where", $ref: "#/$defs/place" } },
    required: ["at"],
    $defs: { place: { type: ["string", "null"], format: "uri" } },
  },
  {
    ...closed,
    $schema: "https://json-schema.org/draft/2020-12/schema",
    properties: {
      kind: { enum: ["shape", null, 1] },
      any: { anyOf: [city, { ...closed, properties: {}, required: [] }] },
    },
    required: ["kind", "any"],
  },
  { ...closed, properties: { city, any: {} }, required: ["city", "any"] },
  { type: "object", properties: { city } },
  { type: "object", additionalProperties: city },
  { type: "object", oneOf: [{ ...closed, properties: { city }, required: ["city"] }] },
  { anyOf: [{ ...closed, properties: { city }, required: ["city"] }, { type: "null" }] },
  { type: "array", items: city },
  { enum: ["shape", "no shape"] },
  ...noObjects,
  ...schemas,
];
const outputs = shapes.map((schema, at) => ({ name: `shape_${at}`, schema }));

function toolsOf(random: Random): readonly ToolDescription[] {
  const first = random.below(toolNames.length);
  const names = [...toolNames, ...toolNames].slice(first, first + random.below(6));
  if (random.chance(0.05)) names.push(names[0] ?? "look");
  const functions = names.map((name) => ({
    name,
    description: random.pick([undefined, "", `does ${name}`]),
    input: random.pick(random.chance(0.01) ? noObjects : schemas),
  }));
  return random.chance(0.5) ? [...functions, ...vendorToolsOf(random)] : functions;
}

const vendorTools: readonly VendorTool[] = [
  { kind: "computer", width: 1024, height: 768 },
  { kind: "shell" },
  { kind: "apply_patch" },
  { kind: "text_editor", maxCharacters: 10_000 },
  { kind: "memory" },
  { kind: "mcp_approval" },
];

/** Tools that vendors define, mostly under the names that the fixtures have them by. */
function vendorToolsOf(random: Random): readonly ToolDescription[] {
  return vendorTools
    .filter(({ kind }) => random.chance(kind === "mcp_approval" ? 0.1 : 0.6))
    .map((vendor) => ({
      name: random.chance(0.8) ? vendor.kind : `my.${vendor.kind}`,
      description: `uses ${vendor.kind}`,
      input: { type: "object", properties: { [vendor.kind]: { type: "string" } } },
      vendor: { ...vendor, native: random.pick([true, true, true, undefined, false]) },
    }));
}

const statuses: readonly ResultStatus[] = [
  "ok",
  "ok",
  "ok",
  "failed",
  "denied",
  "aborted",
  "unknown",
];
const cause = { code: "aborted", message: "by the user" };
const endings: readonly Ending[] = [
  { stop: "end" },
  { stop: "tools" },
  { stop: "length" },
  { stop: "filtered" },
  { stop: "paused" },
  { stop: "aborted", cause },
  { stop: "truncated", cause },
  { stop: "failed", cause },
];

const partIds = Array.from({ length: 40 }, (_, at) => partId(`p${at + 1}`));

/** Writes one transcript, item by item. */
class Writer {
  readonly #random: Random;
  readonly #natives: readonly Native[];
  readonly #home: Native;
  readonly #parts: TranscriptParts;
  readonly #items: Item[] = [];
  /** Calls that have no answer yet. */
  #open: ToolCallPart[] = [];

  constructor(random: Random, natives: readonly Native[], home: Native) {
    this.#random = random;
    this.#natives = natives;
    this.#home = home;
    this.#parts = new TranscriptParts(random);
  }

  write(): readonly Item[] {
    const most = this.#random.chance(0.01) ? 0 : this.#random.pick([1, 1, 1, 1, 1, 1, 2, 2, 2, 4]);
    if (most > 0 && this.#random.chance(0.9)) this.#user();
    for (let turn = 0; turn < most; turn += 1) {
      if (this.#random.chance(0.1)) this.#agent();
      else this.#model();
      this.#answer();
      if (this.#random.chance(0.4)) this.#user();
      if (this.#random.chance(0.05)) this.#lateAnswer();
    }
    return this.#items;
  }

  #commit(author: Item["author"], parts: readonly Part[], more: Partial<Item> = {}): void {
    // Sometimes an item occurs twice, as after a faulty fork.
    const again = this.#random.chance(0.01) ? this.#items.at(-1)?.id : undefined;
    const id = again ?? itemId(`i${this.#items.length}`);
    const named = parts.map((part, at) => {
      const own = partIds[at] ?? part.id;
      return part.id === own ? part : { ...part, id: own };
    });
    this.#items.push({ stop: "end", ...more, id, author, parts: named } as Item);
  }

  #user(): void {
    const count = this.#random.pick([0, 1, 1, 1, 1, 2, 3]);
    const parts = Array.from({ length: count }, () => this.#parts.ofUser());
    this.#commit("user", parts);
  }

  #agent(): void {
    const parts = [this.#parts.text("a"), ...this.#calls(2)];
    this.#opened(parts);
    this.#commit("agent", parts, this.#random.pick(endings));
  }

  #model(): void {
    const random = this.#random;
    const author = random.chance(0.7) ? this.#home : random.pick(this.#natives);
    const other = random.chance(0.12) ? "-old" : "";
    const model = `${author.protocol}/${author.model}${other}`;
    const { rich, replies } = author;
    const copies = random.pick(random.chance(0.6) && rich.length > 0 ? rich : replies);
    if (random.chance(0.25)) {
      const parts = this.#plainParts();
      this.#opened(parts);
      this.#commit("model", this.#inline(parts), { ...random.pick(endings), model });
      return;
    }
    const reply = copies[random.chance(0.95) ? this.#items.length % copies.length : 0];
    const { parts: said, ending } = reply as NativeReply;
    let parts = said.map((part) => this.#parts.damaged(part));
    if (random.chance(0.1)) parts = [...parts, ...this.#calls(2)];
    this.#opened(parts);
    const stop: Ending = random.chance(0.9) ? ending : random.pick(endings);
    this.#commit("model", this.#inline(parts), { ...stop, model });
  }

  /** Parts that any vendor may write: unsigned reasoning, texts and calls. */
  #plainParts(): readonly Part[] {
    const random = this.#random;
    return [
      ...(random.chance(0.2) ? [this.#parts.reasoning()] : []),
      ...(random.chance(0.7) ? [this.#parts.text("m")] : []),
      ...this.#calls(3),
      ...(random.chance(0.15) ? [this.#parts.ofModel()] : []),
    ];
  }

  #calls(most: number): readonly ToolCallPart[] {
    const count = Math.max(0, this.#random.below(most + 2) - 1);
    return Array.from({ length: count }, () => this.#parts.call());
  }

  #opened(parts: readonly Part[]): void {
    this.#open = parts.filter((part) => part.kind === "tool_call");
  }

  /** Other frameworks put the answers into the item that calls. */
  #inline(parts: readonly Part[]): readonly Part[] {
    if (this.#open.length === 0 || !this.#random.chance(0.1)) return parts;
    const answered = new Set<ToolCallPart>();
    const written = parts.flatMap((part): readonly Part[] => {
      if (part.kind !== "tool_call" || this.#random.chance(0.2)) return [part];
      answered.add(part);
      return [part, this.#result(part)];
    });
    this.#open = this.#open.filter((call) => !answered.has(call));
    return written;
  }

  #answer(): void {
    const random = this.#random;
    if (this.#open.length === 0 || random.chance(0.1)) return;
    const results = this.#open.filter(() => random.chance(0.93)).map((call) => this.#result(call));
    if (random.chance(0.1)) results.reverse();
    const first = results[0];
    if (random.chance(0.05) && first !== undefined) results.push(first);
    if (random.chance(0.03)) results.push(this.#result(this.#parts.call()));
    const groups = random.chance(0.5) ? [results] : results.map((result) => [result]);
    for (const group of groups) {
      const parts = group.flatMap((result): readonly Part[] =>
        random.chance(0.12) ? [result, this.#parts.ofTool()] : [result],
      );
      this.#commit("tool", parts);
      if (random.chance(0.02)) this.#user();
    }
    this.#open = [];
  }

  #lateAnswer(): void {
    const call = this.#open[0] ?? this.#parts.call();
    this.#commit("tool", [this.#result(call)]);
  }

  #result({ callId: id, tool }: ToolCallPart): ToolResultPart {
    const status = this.#random.pick(statuses);
    const base = {
      kind: "tool_result",
      id: partId("p"),
      callId: callId(id),
      tool,
      status,
    } as const;
    const text = this.#parts.words("r");
    switch (this.#random.below(8)) {
      case 0:
        return { ...base, text: "", output: { said: text, list: [1, null] } };
      case 1:
        return { ...base, text: "", output: text };
      case 2:
        return { ...base, text: "" };
      case 3:
        return { ...base, text, output: { other: true } };
      case 4:
        return { ...base, text, synthetic: true };
      default:
        return { ...base, text };
    }
  }
}
