import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { RequestTarget, WireRequest } from "../../protocol.ts";
import { askFor } from "../output.ts";
import { prepare } from "../prepare.ts";
import { bindingBeta, claudeBinding } from "../claude-binding.ts";
import { listAt, objectAt } from "../read.ts";
import { applySettings } from "../settings.ts";
import { withCachePoints } from "./cache.ts";
import { textBlocks } from "./content.ts";
import { closed, messagesOf } from "./messages.ts";
import { outputFields } from "./output.ts";
import { bedrockSettings } from "./settings.ts";
import { withThinking } from "./thinking.ts";
import { toolFields } from "./tools.ts";

export const protocolId = "bedrock-converse";

/** Builds the request for a transcript. The vendor's own settings go into the body. */
export function request(modelRequest: ModelRequest, target: RequestTarget): WireRequest {
  const { model } = target;
  const turns = prepare(modelRequest, `${protocolId}/${model}`);
  const { fields: own, shared } = applySettings(bedrockSettings, modelRequest, model);
  const { system, toolConfig: _, ...given } = own as Partial<JsonObject>;
  const { messages, settings } = withThinking(messagesOf(turns, model), given as JsonObject, model);
  const { instructions = "", fields } = askFor(modelRequest, (output) =>
    outputFields(output, settings, model),
  );
  const more = listAt({ system: system ?? [] }, "system").filter(isJsonObject);
  const said = [...textBlocks(instructions), ...more];
  const body: JsonObject = {
    ...settings,
    ...bindingFields(settings, target),
    ...fields,
    ...(said.length === 0 ? {} : { system: said }),
    ...toolFields(modelRequest.tools ?? [], own, turns),
    messages: closed(messages).map(({ role, content }) => ({ role, content })),
  };
  return {
    path: modelPath(model, "converse-stream"),
    body: withCachePoints(body, shared.cache, model),
  };
}

/** As in Claude's own API: thinking that is bound to another beginning is left out, and nothing refused. */
function bindingFields(settings: JsonObject, target: RequestTarget): JsonObject {
  const given = objectAt(settings, "additionalModelRequestFields");
  const bound = claudeBinding(given ?? {}, target);
  if (bound === undefined) return {};
  const names = listAt(given ?? {}, "anthropic_beta").filter((name) => name !== bindingBeta);
  return {
    additionalModelRequestFields: { ...given, ...bound, anthropic_beta: [...names, bindingBeta] },
  };
}

/** A model's path. Its name may be an ARN, so it is one segment with all of its characters encoded. */
export function modelPath(model: string, operation: string): string {
  return `/model/${encodeURIComponent(model)}/${operation}`;
}
