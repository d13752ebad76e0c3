import type { Cause } from "@millrace/core";
import type { ModelRequest, ToolDescription } from "@millrace/core/ports";
import type { SentRequest } from "../../protocol.ts";
import { bindingBeta, bindingFeature } from "../claude-binding.ts";

/** What a request can do without if a vendor, or a gateway before it, refuses it. */
export const features: Readonly<
  Record<"binding" | "notes" | "summaries" | "system" | "tools", string>
> = {
  binding: bindingFeature,
  tools: "changes of tools in a conversation",
  notes: "system messages for one turn",
  summaries: "signed summaries",
  system: "system messages in a conversation",
};

/** The names by which the vendor is asked for them. */
export const betas: Readonly<Record<"binding" | "notes" | "summaries" | "tools", string>> = {
  binding: bindingBeta,
  notes: "mid-conversation-system-clear-at-2026-08-21",
  summaries: "compact-2026-09-04",
  tools: "inline-tools-2026-09-15",
};

/**
 * The feature that a vendor's message refuses, if it is not off. Bedrock does not name the beta that it does
 * not take: then those of the request are tried in turn.
 */
export function refusedFeature(
  { code, message }: Cause,
  off: ReadonlySet<string>,
  { headers, body }: SentRequest,
): string | undefined {
  if (code !== "bad_request") return undefined;
  if (/invalid beta flag/i.test(message)) {
    const sent = `${headers["anthropic-beta"]} ${body}`;
    const name = (["notes", "tools", "summaries", "binding"] as const).find(
      (each) => !off.has(features[each]) && sent.includes(betas[each]),
    );
    return name === undefined ? undefined : features[name];
  }
  const found = refusals.find(([words]) => words.test(message))?.[1];
  return found === undefined || off.has(found) ? undefined : found;
}

const refusals: readonly (readonly [RegExp, string])[] = [
  [/block_binding|thinking-binding-controls/i, features.binding],
  [/clear_at|clear-at-/i, features.notes],
  [/\bcompaction\b|compact-20/i, features.summaries],
  [/tool_addition|tool_removal|inline-tools-/i, features.tools],
  [/role ['"`]?system|messages\.\d+\.role/i, features.system],
];

/** The tools as they are after all updates, for a vendor that takes no updates of tools. */
export function withPlainTools(request: ModelRequest): ModelRequest {
  const { tools = [], updates = [] } = request;
  if (updates.length === 0) return request;
  const all = new Map<string, ToolDescription>();
  for (const tool of tools) if (!all.has(tool.name)) all.set(tool.name, tool);
  for (const { added = [], removed = [] } of updates) {
    for (const tool of added) all.set(tool.name, tool);
    for (const name of removed) all.delete(name);
  }
  const words = updates.map(({ after, text, notes }) => ({ after, text, notes }));
  return { ...request, tools: [...all.values()], updates: words };
}

/** Notes as words that stay, for a vendor that does not take them for one turn. */
export function withPlainNotes(request: ModelRequest): ModelRequest {
  const updates = request.updates?.map(({ notes, text, ...rest }) => ({
    ...rest,
    text: [text, notes].filter((each) => each !== undefined).join("\n\n"),
  }));
  return {
    ...request,
    updates: updates?.map(({ text, ...rest }) => (text === "" ? rest : { ...rest, text })),
  };
}
