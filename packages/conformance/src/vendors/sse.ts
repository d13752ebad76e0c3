import type { JsonObject } from "@millrace/core";
import { textAt } from "./json.ts";
import type { VendorHttpResponse } from "./vendor.ts";

/** A successful response of server-sent events. */
export function eventResponse(body: string): VendorHttpResponse {
  return { status: 200, headers: { "content-type": "text/event-stream" }, body };
}

/** Events whose names are the types in their data. */
export function namedEvents(events: readonly JsonObject[]): string {
  return events
    .map((event) => `event: ${textAt(event, "type")}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

/** Events without names. */
export function plainEvents(events: readonly JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/** A text in pieces of about ten characters, as models stream it. */
export function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,10}/gu) ?? [];
}
