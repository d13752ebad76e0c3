import type { Cause } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { bindingFeature } from "../claude-binding.ts";

/** What a request can do without if a vendor, or a gateway before it, refuses it. */
export const features: Readonly<Record<"binding" | "tools" | "system", string>> = {
  binding: bindingFeature,
  tools: "changes of tools in a conversation",
  system: "system messages in a conversation",
};

/** The feature that a vendor's message refuses. Bedrock does not name the beta that it does not know. */
export function refusedFeature({ code, message }: Cause): string | undefined {
  if (code !== "bad_request") return undefined;
  if (/block_binding|thinking-binding-controls|invalid beta flag/i.test(message))
    return features.binding;
  if (/tool_addition|tool_removal|inline-tools-/i.test(message)) return features.tools;
  return /role ['"`]?system|messages\.\d+\.role/i.test(message) ? features.system : undefined;
}

/** The tools as they are after all updates, for a vendor that takes no updates of tools. */
export function withPlainTools(request: ModelRequest): ModelRequest {
  const { tools = [], updates = [] } = request;
  const all = new Map(tools.map((tool) => [tool.name, tool]));
  for (const { added = [], removed = [] } of updates) {
    for (const tool of added) all.set(tool.name, tool);
    for (const name of removed) all.delete(name);
  }
  const words = updates.map(({ after, text }) => ({ after, text }));
  return { ...request, tools: [...all.values()], updates: words };
}
