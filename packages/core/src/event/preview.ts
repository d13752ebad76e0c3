import { JsonPreview } from "../content/json-preview.ts";
import { textLength, textOf } from "../delta/draft.ts";
import type { OpenPart } from "../delta/draft.ts";
import { isJsonObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { noteOf } from "./note.ts";

/** A call that is being written, as a view of it shows it. */
export interface WritingPart<Preview> {
  readonly kind: "tool_call";
  readonly state: "writing";
  readonly raw: string;
  /** Never there at run time. */
  readonly "~preview"?: Preview | undefined;
}

/** By the delta that began the part, which all drafts of it share: how far its text was read. */
const readers = new WeakMap<object, { readonly preview: JsonPreview; length: number }>();

/**
 * The arguments of a call as far as they have come: strings as far as they are written, lists and objects
 * with what is in them so far, numbers once they are complete. For display only: nothing has checked them
 * against the tool's schema, and nothing runs on them. Reading every view of a call costs in proportion to
 * the text that is new in it, and a copy of the references of what is still open. What did not change is the
 * same object as in the view before. A copy of a view, or one that is older than another that was read, costs
 * its whole text.
 */
export function previewOf<Preview = JsonObject>(part: WritingPart<Preview>): Preview {
  const open = noteOf(part) as OpenPart | undefined; // of `project`, unless it is a copy of a view
  const { value } = (open && readerOf(open)) ?? whole(part.raw);
  return (isJsonObject(value) ? value : {}) as Preview; // as far as the model keeps to the schema
}

/** The reader of a call, brought up to this view. Undefined for a view from before what it has read. */
function readerOf(open: OpenPart): JsonPreview | undefined {
  const length = textLength(open);
  let reader = readers.get(open.begin);
  if (reader === undefined) {
    readers.set(open.begin, (reader = { preview: new JsonPreview(), length: 0 }));
  }
  if (reader.length > length) return undefined;
  reader.preview.feed(textFrom(open, reader.length));
  reader.length = length;
  return reader.preview;
}

function whole(raw: string): JsonPreview {
  const preview = new JsonPreview();
  preview.feed(raw);
  return preview;
}

/** The text from a place on, taken of the newest piece alone if it is all there: joining copies the whole. */
function textFrom(open: OpenPart, from: number): string {
  const { settled, tail } = open;
  return from < settled.length ? textOf(open).slice(from) : tail.slice(from - settled.length);
}
