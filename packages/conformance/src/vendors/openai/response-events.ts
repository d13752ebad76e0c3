import type { JsonObject } from "@millrace/core";
import { pieces } from "../sse.ts";

/** A reply of the Responses API: its output items, and how it ends. */
export interface ResponsesReply {
  readonly id: string;
  readonly model: string;
  readonly items: readonly JsonObject[];
  readonly stop: "length" | "filtered" | undefined;
  readonly usage: JsonObject;
}

/** The events of a streamed response. */
export function responseEvents(reply: ResponsesReply): readonly JsonObject[] {
  const { id, model, items, stop, usage } = reply;
  const base = { id, object: "response", created_at: 0, model, error: null, store: false };
  const begun = {
    ...base,
    status: "in_progress",
    incomplete_details: null,
    output: [],
    usage: null,
  };
  const status = stop === undefined ? "completed" : "incomplete";
  const reason = stop === "length" ? "max_output_tokens" : "content_filter";
  const incomplete_details = stop === undefined ? null : { reason };
  const events: readonly JsonObject[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap(itemEvents),
    {
      type: `response.${status}`,
      response: { ...base, status, incomplete_details, output: [...items], usage },
    },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function itemEvents(item: JsonObject, output_index: number): readonly JsonObject[] {
  const at = { item_id: item["id"] ?? "", output_index };
  const { start, events } = streamed(item, at);
  return [
    { type: "response.output_item.added", output_index, item: start },
    ...events,
    { type: "response.output_item.done", output_index, item },
  ];
}

/** How an item is streamed: its start, and the events of its content. */
function streamed(
  item: JsonObject,
  at: JsonObject,
): { readonly start: JsonObject; readonly events: readonly JsonObject[] } {
  switch (item["type"]) {
    case "reasoning": {
      const parts = item["summary"] as readonly JsonObject[];
      return {
        start: { ...item, summary: [] },
        events: parts.flatMap((part, summary_index) =>
          textEvents(part, { ...at, summary_index }, [
            "response.reasoning_summary_part",
            "response.reasoning_summary_text",
          ]),
        ),
      };
    }
    case "function_call": {
      const text = item["arguments"] as string;
      const type = "response.function_call_arguments";
      return {
        start: { ...item, arguments: "", status: "in_progress" },
        events: [
          ...pieces(text).map((delta) => ({ type: `${type}.delta`, ...at, delta })),
          { type: `${type}.done`, ...at, name: item["name"] ?? "", arguments: text },
        ],
      };
    }
    default: {
      const parts = item["content"] as readonly JsonObject[];
      return {
        start: { ...item, content: [], status: "in_progress" },
        events: parts.flatMap((part, content_index) =>
          textEvents(part, { ...at, content_index }, [
            "response.content_part",
            "response.output_text",
          ]),
        ),
      };
    }
  }
}

function textEvents(
  part: JsonObject,
  at: JsonObject,
  [partType, textType]: readonly [string, string],
): readonly JsonObject[] {
  const text = part["text"] as string;
  return [
    { type: `${partType}.added`, ...at, part: { ...part, text: "" } },
    ...pieces(text).map((delta) => ({ type: `${textType}.delta`, ...at, delta })),
    { type: `${textType}.done`, ...at, text },
    { type: `${partType}.done`, ...at, part },
  ];
}
