import type { JsonObject } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { RequestTarget, WireRequest } from "../../protocol.ts";
import type { SettingsTable } from "../../settings.ts";
import { askFor, openaiFormat } from "../output.ts";
import { takesBreakpoints } from "../openai-models.ts";
import { prepare } from "../prepare.ts";
import { applySettings } from "../settings.ts";
import { isTranscribed } from "../moved-media.ts";
import { listOf, objectOf } from "./events.ts";
import { messagesOf } from "./request-messages.ts";
import { toolsOf } from "./request-tools.ts";
import { openaiChatSettings } from "./settings.ts";

/**
 * Builds the request for a transcript. The vendor's own settings go into the body unchanged. `stream_options: null`
 * omits that field, for servers that refuse it; usage is then unknown. If the settings contain a
 * `response_format`, or `null` for servers without one, the instructions describe the shape of the
 * reply.
 */
export function openaiChatRequest(
  request: ModelRequest,
  target: RequestTarget,
  table: SettingsTable,
): WireRequest {
  const { fields: settings } = applySettings(table, request, target.model);
  const {
    tools: ownTools,
    tool_choice: choice,
    parallel_tool_calls: parallel,
    stream_options: streamOptions,
    response_format: ownFormat,
    ...rest
  } = settings as Partial<JsonObject>;
  const turns = prepare(request, `openai-chat/${target.model}`, {
    keeps: isTranscribed,
  });
  const tools = [...toolsOf(request.tools ?? []), ...listOf(ownTools)];
  const { instructions = "", fields } = askFor(request, (output) => {
    const shape = ownFormat === undefined ? openaiFormat(output, target.model) : undefined;
    return shape && { response_format: { type: "json_schema", json_schema: shape } };
  });
  // The vendor refuses an empty tool list, and tool settings without tools.
  const toolFields = {
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || choice === undefined ? {} : { tool_choice: choice }),
    ...(tools.length === 0 || parallel === undefined ? {} : { parallel_tool_calls: parallel }),
  };
  const body = {
    ...(rest as JsonObject),
    ...(ownFormat === undefined || ownFormat === null ? {} : { response_format: ownFormat }),
    ...fields,
    ...toolFields,
    model: target.model,
    messages: [
      ...(instructions.trim() === "" ? [] : [{ role: "system", content: instructions }]),
      ...messagesOf(turns, target.model, { breakpoints: hasBreakpoints(table, target.model) }),
    ],
    stream: true,
    ...(streamOptions === null
      ? {}
      : { stream_options: { include_usage: true, ...objectOf(streamOptions) } }),
  };
  return { path: "/chat/completions", body };
}

/** True if OpenAI itself is asked for a model that takes marks of what is to be kept. */
function hasBreakpoints(table: SettingsTable, model: string): boolean {
  return table === openaiChatSettings && takesBreakpoints(model);
}
