import { repairTranscript } from "@millrace/core/writing";
import { isJsonObject } from "@millrace/core/json";
import type { Item, Json, JsonObject, TextPart, Transcript } from "@millrace/core";
import type { ModelRequest, ToolDescription } from "@millrace/core/ports";
import type { NativeTool, WireRequest } from "../protocol.ts";
import { RequestRefusal } from "../protocols/refusal.ts";
import { withoutRefused } from "./refusals.ts";
import { formsOf } from "./taken.ts";

/** A protocol with a model, and the validator of its requests. */
export interface Target {
  readonly protocol: string;
  readonly model: string;
  readonly request: (request: ModelRequest) => WireRequest;
  /** The tools that the vendor has itself. */
  readonly native: (tools: readonly ToolDescription[]) => ReadonlyMap<string, NativeTool>;
  readonly validate: (body: JsonObject, transcript: Transcript) => readonly string[];
}

/** What every request of a transcript must contain, and what some must not. */
interface Facts {
  /** Texts in their JSON form. One of the forms of each must be there. */
  readonly words: readonly (readonly string[])[];
  readonly results: readonly string[];
  /** Media and files, with the model that wrote them and what can be found of them. */
  readonly media: readonly {
    readonly type: string;
    readonly model: string | undefined;
    readonly forms: readonly string[];
  }[];
  /** Data that only the protocol and model of its origin can read. */
  readonly secrets: ReadonlyMap<string, ReadonlySet<string>>;
}

const known = new WeakMap<Transcript, Facts>();

/**
 * The violations in the request that a target builds. Empty if there are none. What it refuses is
 * left out and the rest is tried again, so that a refusal hides no other violation.
 */
export function brokenLaws(target: Target, request: ModelRequest): readonly string[] {
  const { transcript } = request;
  let body: JsonObject;
  try {
    ({ body } = target.request(request));
  } catch (error) {
    if (!(error instanceof RequestRefusal)) return [`throws ${String(error)}`];
    const rest = withoutRefused(target, request, error);
    return typeof rest === "string" ? [rest] : brokenLaws(target, rest);
  }
  const violations = target.validate(body, transcript);
  if (violations.length > 0) return violations;
  const facts = known.get(transcript) ?? factsOf(transcript);
  known.set(transcript, facts);
  const written = JSON.stringify(body);
  const lost = facts.words.filter((forms) => !forms.some((form) => written.includes(form)));
  const unanswered = facts.results.filter((text) => !written.includes(text));
  return [
    ...lostTools(target, request, written),
    ...lostMedia(facts.media, `${target.protocol}/${target.model}`, written),
    ...lost.map(([text]) => `a text of the user is lost: ${text}`),
    ...unanswered.map((text) => `the result of a call is lost: ${text}`),
    ...unasked(request, written),
    ...betrayed(facts.secrets, `${target.protocol}/${target.model}`, written),
  ];
}

/**
 * Each tool is declared with its schema: as it is, or beside the schema of an object, as text. One that
 * the vendor has itself has the vendor's declaration.
 */
function lostTools(
  { native }: Target,
  { tools = [] }: ModelRequest,
  written: string,
): readonly string[] {
  const vendors = native(tools);
  // The last tool may be marked to be kept.
  const unmarked = written.replaceAll(/"cache_control":\{[^}]*\},/g, "");
  return tools
    .filter(({ name }, at) => tools.findIndex((tool) => tool.name === name) === at)
    .filter(({ name, input }) => {
      const { declaration } = vendors.get(name) ?? {};
      if (vendors.has(name)) {
        return declaration !== undefined && !unmarked.includes(JSON.stringify(declaration));
      }
      return !schemaForms(input).some((form) => written.includes(form));
    })
    .map(({ name, input }) => `the tool ${name} lost its schema ${JSON.stringify(input)}`);
}

const knownForms = new Map<Json, readonly string[]>();

/** The schema as text in JSON, and its keywords behind the type, which may be added or narrowed. */
function schemaForms(input: Json): readonly string[] {
  const known = knownForms.get(input);
  if (known !== undefined) return known;
  const text = JSON.stringify(input);
  const keywords = text
    .slice(1, -1)
    .replace(/"\$schema":"[^"]*",/, "")
    .replace(/,?"properties":null/, "")
    .replace(/^"type":(?:"object"|\[[^\]]*\]),?/, "");
  const forms = isJsonObject(input) ? [keywords, inJson(text)] : [""];
  knownForms.set(input, forms);
  return forms;
}

/** Media and files of users, of tools and of other models are in it: their bytes, text or address. */
function lostMedia(media: Facts["media"], author: string, written: string): readonly string[] {
  return media
    .filter(({ model, forms }) => model !== author && !forms.some((form) => written.includes(form)))
    .map(({ type }) => `media of type ${type} is lost`);
}

/** The shape of the reply is in a field or in the instructions, with its schema unchanged. */
function unasked({ output }: ModelRequest, written: string): readonly string[] {
  if (output === undefined) return [];
  const schema = JSON.stringify(output.schema);
  const inField = ["schema", "responseJsonSchema"].some((key) =>
    written.includes(`"${key}":${schema}`),
  );
  // Bedrock takes the schema as text.
  const inText = written.includes(`"schema":${JSON.stringify(schema)}`);
  const inWords = [output.name, `\n${schema}`].every((said) => written.includes(inJson(said)));
  const isAsked = inField || inText || inWords;
  return isAsked ? [] : [`the shape of the reply is lost: ${schema}`];
}

function betrayed(secrets: Facts["secrets"], author: string, written: string): readonly string[] {
  const own = secrets.get(author);
  const found: string[] = [];
  for (const [model, texts] of secrets) {
    if (model === author) continue;
    for (const text of texts) {
      if (own?.has(text) === true || !written.includes(text)) continue;
      found.push(`another vendor's data is in it: ${text.slice(0, 40)}`);
    }
  }
  return found;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function factsOf(transcript: Transcript): Facts {
  const words = transcript
    .filter(({ author }) => author === "user")
    .flatMap(({ parts }) => parts)
    .flatMap((part) =>
      part.kind === "text" && part.text.trim() !== ""
        ? [[part.text, ...signedText(part)].map(inJson)]
        : [],
    );
  const { items } = repairTranscript(transcript);
  const media = items.flatMap(({ model, parts }) =>
    parts.flatMap((part) =>
      part.kind === "media" || part.kind === "file"
        ? [{ type: part.mediaType, model, forms: formsOf(part) }]
        : [],
    ),
  );
  const results = items
    .flatMap(({ parts }) => parts)
    .flatMap((part): readonly string[] => {
      if (part.kind !== "tool_result") return [];
      if (part.text !== "") return [inJson(part.text)];
      if (typeof part.output === "string") return [inJson(part.output)];
      // Vendors take objects in different ways. The mark is found in all of them.
      return /r\d+;/.exec(JSON.stringify(part.output) ?? "") ?? [];
    });
  const secrets = new Map<string, Set<string>>();
  for (const item of transcript) {
    if (item.model === undefined) continue;
    const texts = secrets.get(item.model) ?? new Set();
    secrets.set(item.model, texts);
    collectSecrets(item, texts);
  }
  return { words, results, media, secrets };
}

/** What a summary that its vendor has signed says: to the same model it is sent as the vendor wrote it. */
function signedText({ metadata }: TextPart): readonly string[] {
  const summary = metadata?.["summary"];
  const block = isJsonObject(summary) ? summary["block"] : undefined;
  const content = isJsonObject(block) ? block["content"] : undefined;
  return typeof content === "string" ? [content] : [];
}

function collectSecrets({ parts }: Item, secrets: Set<string>): void {
  // Ids of calls belong to the transcript, and may be derived from the vendor's.
  const calls = parts.flatMap((part) => (part.kind === "tool_call" ? [part.callId] : []));
  for (const part of parts) {
    if (part.kind !== "reasoning" && part.kind !== "tool_call" && part.kind !== "custom") continue;
    for (const text of secretsIn(part.kind === "custom" ? part.value : part.opaque)) {
      if (!calls.some((id) => id.includes(text))) secrets.add(text);
    }
  }
}

/** A cache, because many transcripts share the same data. */
const read = new WeakMap<object, readonly string[]>();

function secretsIn(value: Json | undefined): readonly string[] {
  if (typeof value === "string") {
    // Text and URLs may go to any vendor; signatures, encrypted reasoning and ids may not.
    return /^[\w+/=-]{16,}$/.test(value) && /\d/.test(value) ? [value] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  const found = read.get(value) ?? Object.values(value).flatMap(secretsIn);
  read.set(value, found);
  return found;
}

/** Reduces a request while `holds` stays true. */
export function shrinkRequest(
  request: ModelRequest,
  holds: (smaller: ModelRequest) => boolean,
): ModelRequest {
  let best = request;
  for (let found = true; found;) {
    found = false;
    for (const smaller of smallerRequests(best)) {
      if (!holds(smaller)) continue;
      best = smaller;
      found = true;
      break;
    }
  }
  return best;
}

function* smallerRequests(request: ModelRequest): Generator<ModelRequest> {
  const { transcript } = request;
  for (const key of ["instructions", "tools", "output", "settings"] as const) {
    if (request[key] !== undefined) yield { ...request, [key]: undefined };
  }
  for (const [at, item] of transcript.entries()) {
    yield { ...request, transcript: transcript.toSpliced(at, 1) };
    for (const index of item.parts.keys()) {
      const parts = item.parts.toSpliced(index, 1);
      yield { ...request, transcript: transcript.with(at, { ...item, parts }) };
    }
  }
}
