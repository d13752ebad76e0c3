import type { Item, Part, ResultStatus } from "@millrace/core";
import { withoutUndone } from "@millrace/core/reading";
import type { HeldMessage } from "./chat.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

type Call = Extract<Part, { readonly kind: "tool_call" }>;

/** Arguments as they are parsed, or their text if they can't be. */
const parsed = ({ input, raw }: Call): string => JSON.stringify(input ?? raw);

/** Arguments as they were written. Without any, they are an empty object. */
export const toTheLetter = ({ input, raw }: Call): string =>
  raw === "" && input !== undefined ? "{}" : raw;

/** What a run wrote, part by part and in order, told without any code of the dialect. */
export function writtenParts(
  { facts }: WatchedSession,
  { runId }: WatchedRun,
  saidArguments: (call: Call) => string = parsed,
): readonly string[] {
  const own = withoutUndone(facts).filter((fact) => "runId" in fact && fact.runId === runId);
  const summaries = own.flatMap((fact) =>
    fact.type === "compaction_finished" ? [fact.summary?.itemId] : [],
  );
  const items = own.flatMap((fact): Item[] => {
    const isItem = fact.type === "item_committed" || fact.type === "item_replaced";
    return isItem && !summaries.includes(fact.item.id) ? [fact.item] : [];
  });
  // Call ids come again: a result is that of the last call before it.
  const resultsOf = (at: number): readonly Result[] =>
    items.slice(at).flatMap(({ parts }) => parts.filter((part) => part.kind === "tool_result"));
  return items.flatMap(({ author, parts }, at) =>
    author === "model" || author === "agent"
      ? parts.map((part) => sayPart(part, resultsOf(at), saidArguments))
      : [],
  );
}

type Result = Extract<Part, { readonly kind: "tool_result" }>;

const states: Readonly<Record<ResultStatus, string>> = {
  ok: "output-available",
  failed: "output-error",
  aborted: "output-error",
  unknown: "output-error",
  denied: "output-denied",
};

function sayPart(
  part: Part,
  results: readonly Result[],
  saidArguments: (call: Call) => string,
): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return `${part.kind} ${part.text}`;
    case "tool_call": {
      const result = results.find(({ callId }) => callId === part.callId);
      const state = result === undefined ? "none" : states[result.status];
      const came =
        result?.status === "ok" ? JSON.stringify(result.output ?? result.text) : result?.text;
      return `${part.tool} ${part.callId} ${saidArguments(part)} ${state} ${state === "output-denied" ? "" : came}`;
    }
    case "media":
    case "file":
      return `file ${part.mediaType} ${part.url ?? Buffer.from(part.bytes ?? []).toString("base64")}`;
    case "structured":
      return `structured ${JSON.stringify(part.value)}`;
    case "custom":
      return `${part.name} ${JSON.stringify(part.value)}`;
    case "tool_result":
    case "opaque":
      return part.kind;
    default:
      return part satisfies never;
  }
}

/** The same of a message that a page holds. 5 has no state for what was denied. */
export function heldParts(message: HeldMessage | undefined): readonly string[] {
  return (message?.parts ?? []).flatMap((part) => {
    const { type, text, toolCallId, state, output, errorText, input, rawInput } = part;
    if (type === "step-start" || type === "steering-message" || type === "data-steering") return [];
    if (type === "data-approval") return [];
    if (type === "text" || type === "reasoning") return [`${type} ${String(text)}`];
    if (type === "file")
      return [`file ${String(part["mediaType"])} ${String(part["url"]).replace(/^.*,/, "")}`];
    if (type.startsWith("data-")) return [`${type.slice(5)} ${JSON.stringify(part["data"])}`];
    const came = state === "output-available" ? JSON.stringify(output) : errorText;
    return [
      `${type.slice(5)} ${String(toolCallId).replace(/~\d+$/, "")} ${JSON.stringify(input ?? rawInput)} ${String(state)} ${state === "output-denied" ? "" : String(came)}`,
    ];
  });
}

/**
 * The texts that a run wrote, in order, and its calls with what they came to, sorted: calls stand in a response
 * by when they began.
 */
export function writtenOutput(session: WatchedSession, run: WatchedRun): WrittenOutput {
  const all = writtenParts(session, run).filter(
    (part) => !/^(?:tool_result|opaque|file) ?/.test(part),
  );
  const isText = (part: string): boolean => /^(?:text|reasoning) /.test(part);
  const calls = all.filter((part) => !isText(part) && /output-\w+/.test(part));
  return { texts: all.filter(isText), calls: calls.map(callLine).toSorted() };
}

export interface WrittenOutput {
  readonly texts: readonly string[];
  readonly calls: readonly string[];
}

/** A call without how its result is written down. */
function callLine(part: string): string {
  const [, tool, state] = /^(\S+) .* output-(available|error|denied)/s.exec(part) ?? [];
  return `${tool} ${state === "available" ? "completed" : "failed"}`;
}

/** The same of responses that a client holds. What the client carried out itself is not in it. */
export function heldOutput(
  responses: readonly { readonly output: readonly HeldItem[] }[],
): WrittenOutput {
  const items = responses.flatMap(({ output }) => output);
  return {
    texts: items.flatMap(({ type, content, summary }) =>
      type === "message"
        ? [`text ${content?.[0]?.text}`]
        : type === "reasoning"
          ? [`reasoning ${summary?.[0]?.text}`]
          : [],
    ),
    calls: items
      .flatMap(({ type, name, status }) => (type === "mcp_call" ? [`${name} ${status}`] : []))
      .toSorted(),
  };
}

interface HeldItem {
  readonly type: string;
  readonly name?: string;
  readonly status?: string;
  readonly content?: readonly { readonly text: string }[];
  readonly summary?: readonly { readonly text: string }[];
}

/** The tokens that a run used, by its facts. */
export function usedTokens({ facts }: WatchedSession, { runId }: WatchedRun): number {
  return facts.reduce((sum, fact) => {
    if (fact.type !== "usage_reported" || fact.runId !== runId) return sum;
    return sum + fact.usage.inputTokens + fact.usage.outputTokens;
  }, 0);
}
