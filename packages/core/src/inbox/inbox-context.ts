import { MillraceError } from "../errors.ts";
import type { Actor } from "../event/event.ts";
import { actorText } from "../ids.ts";
import type { InputId } from "../ids.ts";
import { checkJson } from "../json.ts";
import { keyedInputId } from "./ids.ts";
import type { InboxOptions, PostOptions } from "./inbox.ts";
import type { InboxState } from "./inbox-state.ts";
import type { Poster } from "./post.ts";

/** What the calls of an inbox work with. */
export interface InboxContext {
  readonly poster: Poster;
  readonly known: InboxState;
  readonly clientTools?: InboxOptions["clientTools"];
}

/** What was checked of a call's options. */
export interface Checked {
  /** The input that the caller's key names. */
  readonly keyed: InputId | undefined;
  /** As a field of the fact. */
  readonly by: { readonly actor?: Actor };
}

/** The store's key for taking an input back: by whichever way, it is done once. */
export function takeBackKeyOf(id: InputId): string {
  return `take_back_${id}`;
}

/** Throws `invalid_event` for a value that could not be stored and read again. */
export function checkedJson<T>(value: T, what: string): T {
  const fault = checkJson(value);
  if (fault === undefined) return value;
  throw new MillraceError(
    "invalid_event",
    `${what} is not plain JSON within the limits: ${fault.code}`,
  );
}

/** Throws `invalid_id` for a key or an actor that can't be one. */
export function checkOptions(
  { key, actor: given }: PostOptions,
  usual: Actor | undefined,
): Checked {
  const keyed = key === undefined ? undefined : keyedInputId(key);
  const actor = given ?? usual;
  if (actor === undefined) return { keyed, by: {} };
  // Copied field by field: nothing else of the caller's object is stored.
  const via = actor.via === undefined ? {} : { via: actorText(actor.via) };
  return { keyed, by: { actor: { user: actorText(actor.user), ...via } } };
}
