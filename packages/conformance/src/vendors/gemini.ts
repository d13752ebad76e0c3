import type { JsonObject } from "@millrace/core";
import { checkPairs, checkSignatures, readContents } from "./gemini-contents.ts";
import type { GeminiContent } from "./gemini-contents.ts";
import { canonical, objectAt, objectsAt, readObject, textAt } from "./json.ts";
import { createVendor, Ledger } from "./ledger.ts";
import { PrefixCache } from "./prefix-cache.ts";
import type { PrefixUse } from "./prefix-cache.ts";
import { refuse } from "./refusal.ts";
import { replySize } from "./reply-size.ts";
import { signText } from "./signed-text.ts";
import { eventResponse, pieces, plainEvents } from "./sse.ts";
import type { AcceptedRequest, PlainReply, StrictVendor, StrictVendorOptions } from "./vendor.ts";

/** How long a prefix is cached. The vendor names no time. */
const ttlMs = 3_600_000;

/**
 * Gemini's `streamGenerateContent`. Signatures belong to a key, and the calls of the running turn need
 * them. Prompts are cached by prefix, without marks.
 */
export function strictGemini({
  account = "account",
  now,
  leastCached = 2048,
}: StrictVendorOptions): StrictVendor {
  const ledger = new Ledger();
  const cache = new PrefixCache({ step: 64, least: leastCached });
  const secret = `gemini ${account}`;
  let accepted = 0;
  return createVendor({
    ledger,
    respond: (request, reply) => {
      const [, model = ""] =
        /\/models\/([^/:?]+):streamGenerateContent/.exec(request.path) ??
        refuse("Method not found.", { status: 404 });
      const body = readObject(request.body);
      const contents = readContents(body);
      const isRequired = generationOf(model) >= 3;
      checkPairs(contents);
      checkSignatures(contents, { secret, isRequired });
      const use = cache.use(model, promptOf(body), { now: now(), ttlMs });
      ledger.charge({ plain: use.total - use.read, read: use.read, write: 0 });
      accepted += 1;
      const scripted = reply(acceptedRequest({ number: accepted, model, body, contents }));
      const signature =
        scripted.think !== undefined || isRequired
          ? signText({ number: accepted }, secret)
          : undefined;
      const parts = replyParts(scripted, { id: accepted, signature });
      return eventResponse(plainEvents(chunksOf(parts, { scripted, model, use, id: accepted })));
    },
    encodeError: ({ message, status }) => ({
      body: {
        error: {
          code: status,
          message,
          status: status === 404 ? "NOT_FOUND" : "INVALID_ARGUMENT",
        },
      },
    }),
  });
}

function generationOf(model: string): number {
  return Number(/gemini-(\d+)/.exec(model)?.[1] ?? 0);
}

/** The prompt as text, in the order in which it is cached. */
function promptOf(body: JsonObject): string {
  const head = canonical([body["tools"] ?? [], body["systemInstruction"] ?? null]);
  const contents = objectsAt(body, "contents").map((content) =>
    canonical(content, "thoughtSignature"),
  );
  return [head, ...contents].join("\n");
}

/** The parts of a reply. Its signature is on the first call, or on the last text. */
function replyParts(
  { think, text, calls = [] }: PlainReply,
  { id, signature }: { readonly id: number; readonly signature: string | undefined },
): readonly JsonObject[] {
  const signed = signature === undefined ? {} : { thoughtSignature: signature };
  const texts = pieces(text ?? "").map((piece): JsonObject => ({ text: piece }));
  const last = texts.length - 1;
  return [
    ...(typeof think === "string" ? [{ text: think, thought: true }] : []),
    ...texts.map((part, at) => (at === last && calls.length === 0 ? { ...part, ...signed } : part)),
    ...calls.map((call, at) => ({
      functionCall: { id: call.id ?? `call_${id}_${at}`, name: call.name, args: call.input },
      ...(at === 0 ? signed : {}),
    })),
  ];
}

interface ReplyFacts {
  readonly scripted: PlainReply;
  readonly model: string;
  readonly use: PrefixUse;
  readonly id: number;
}

/** One chunk for each part, the last one with the reason why the reply ends. */
function chunksOf(
  parts: readonly JsonObject[],
  { scripted, model, use, id }: ReplyFacts,
): readonly JsonObject[] {
  const usageMetadata = usageOf(scripted, use);
  const given = parts.length === 0 ? [{ text: "" }] : parts;
  return given.map((part, at) => ({
    candidates: [
      {
        content: { role: "model", parts: [part] },
        index: 0,
        ...(at === given.length - 1 ? { finishReason: finishReason(scripted) } : {}),
      },
    ],
    usageMetadata,
    modelVersion: model,
    responseId: `response-${id}`,
  }));
}

function finishReason({ stop }: PlainReply): string {
  if (stop === "length") return "MAX_TOKENS";
  return stop === "filtered" ? "SAFETY" : "STOP";
}

function usageOf(scripted: PlainReply, { total, read }: PrefixUse): JsonObject {
  const { thinking, written } = replySize(scripted);
  return {
    promptTokenCount: total,
    ...(read === 0 ? {} : { cachedContentTokenCount: read }),
    candidatesTokenCount: written,
    ...(thinking === 0 ? {} : { thoughtsTokenCount: thinking }),
    totalTokenCount: total + written + thinking,
  };
}

interface Read {
  readonly number: number;
  readonly model: string;
  readonly body: JsonObject;
  readonly contents: readonly GeminiContent[];
}

function acceptedRequest({ number, model, body, contents }: Read): AcceptedRequest {
  const instructions = textOf(objectsAt(objectAt(body, "systemInstruction"), "parts"));
  const last = contents.findLast(({ role }) => role === "user");
  const config = objectAt(body, "generationConfig");
  return {
    number,
    model,
    instructions,
    lastUserText: textOf(last?.parts ?? []),
    answersCalls: last?.isResults === true,
    tools: objectsAt(body, "tools")
      .flatMap((tool) => objectsAt(tool, "functionDeclarations"))
      .flatMap((tool) => textAt(tool, "name") ?? []),
    wantsJson:
      config?.["responseMimeType"] === "application/json" || instructions.includes("JSON Schema"),
    wantsSummary: false,
    body,
  };
}

function textOf(parts: readonly JsonObject[]): string {
  return parts.flatMap((part) => textAt(part, "text") ?? []).join("\n");
}
