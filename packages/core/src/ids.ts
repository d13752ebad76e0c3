import { MillraceError } from "./errors.ts";

declare const brand: unique symbol;

/** A string that names one sort of thing and can't be mixed up with another sort. */
export type Id<Name extends string> = string & { readonly [brand]: Name };

/** The address of a session, chosen by its users. A deleted name may be used again. */
export type SessionId = Id<"SessionId">;
/** One life of a session name. Never used twice, so keys and cursors are made of it. */
export type SessionUid = Id<"SessionUid">;
/** Names one run: from an accepted input until nothing is left to do. */
export type RunId = Id<"RunId">;
/** Names one turn: a model's reply and the answers to its calls. */
export type TurnId = Id<"TurnId">;
/** Reserved when an attempt opens, so that a retry ends in the same item. */
export type ItemId = Id<"ItemId">;
/**
 * Unique within its session once a driver has written it. A model numbers the parts of each reply anew,
 * so its ids are unique within that reply only.
 */
export type PartId = Id<"PartId">;
/** Names a call of a tool. Given by the model's vendor; unique within its reply. */
export type CallId = Id<"CallId">;
/** Names a question to a person. */
export type ApprovalId = Id<"ApprovalId">;
/** Names something that was sent to a session. */
export type InputId = Id<"InputId">;
/**
 * The secret of one session: 32 random bytes in base64url, 43 characters. A store gives it out to
 * programs that may read the session, and what other programs can write to is checked with it. It is
 * not for records, logs or clients.
 */
export type SessionKey = Id<"SessionKey">;

/** The longest id we admit, in UTF-16 units: ids are keys in stores and parts of cursors. */
const maxIdLength = 256;

/** The longest name of an engine's run, in UTF-16 units. Each session keeps those that claimed it. */
const maxEngineRunLength = 200;

/** What every id must be: text of 1 to 256 units, without half a surrogate pair. */
export function isId(value: unknown, longest: number = maxIdLength): boolean {
  return (
    typeof value === "string" && value !== "" && value.length <= longest && value.isWellFormed()
  );
}

/** What the uid of a session must be. */
export function isSessionUid(value: string): value is SessionUid {
  return /^[A-Za-z0-9_-]{1,64}$/.test(value);
}

/** The one place where a bare string becomes an id. The name of the sort only serves the message. */
function admit<Name extends string>(
  value: string,
  name: string,
  longest: number = maxIdLength,
): Id<Name> {
  if (!isId(value, longest)) {
    throw new MillraceError(
      "invalid_id",
      `a ${name} needs 1 to ${longest} characters of well-formed text, not ${JSON.stringify(value.slice(0, 40))}`,
    );
  }
  return value as Id<Name>;
}

/** Admits a string as the id of a session. Throws `invalid_id`. */
export function sessionId(value: string): SessionId {
  return admit(value, "session id");
}

/** Uids stand in cursors and store keys unescaped, hence the narrow alphabet. */
export function sessionUid(value: string): SessionUid {
  if (!isSessionUid(value)) {
    const shown = JSON.stringify(value.slice(0, 40));
    throw new MillraceError(
      "invalid_id",
      `a session uid has 1 to 64 letters, digits, "_" or "-", not ${shown}`,
    );
  }
  return value;
}

/** Admits the key of a session. The message does not repeat the value, which may be a key. */
export function sessionKey(value: string): SessionKey {
  if (!/^[A-Za-z0-9_-]{43}$/.test(value)) {
    throw new MillraceError("invalid_id", "a session key has 43 characters of base64url");
  }
  return value as SessionKey;
}

/** Admits a string as the id of a run. Throws `invalid_id`. */
export function runId(value: string): RunId {
  return admit(value, "run id");
}

/** Admits a string as the id of a turn. Throws `invalid_id`. */
export function turnId(value: string): TurnId {
  return admit(value, "turn id");
}

/** Admits a string as the id of an item. Throws `invalid_id`. */
export function itemId(value: string): ItemId {
  return admit(value, "item id");
}

/** Admits a string as the id of a part. Throws `invalid_id`. */
export function partId(value: string): PartId {
  return admit(value, "part id");
}

/** The id of a part by its number in its item, from 1: one that no other item of the session has. */
export function numberedPart(item: ItemId, number: number): PartId {
  // The item's id may be as long as an id can be. Of ids the result is one, unless a character is cut:
  // then whatever reads it refuses it.
  return `part_${item.replace(/^item_/, "").slice(-230)}_${number}` as PartId;
}

/** An id without the name of its sort. */
export function idTail(id: string): string {
  return id.replace(/^(input|run|turn)_/, "");
}

/** The item that a lane writes in a turn: 0 is the reply, call i is answered in lane i + 1. */
export function laneItemIdOf(turn: TurnId, lane: number): ItemId {
  return `item_${idTail(turn)}_${lane}` as ItemId; // of a turn's id, which its writer keeps short
}

/** Admits a string as the id of a call. Throws `invalid_id`. */
export function callId(value: string): CallId {
  return admit(value, "call id");
}

/** Admits a string as the id of a question. Throws `invalid_id`. */
export function approvalId(value: string): ApprovalId {
  return admit(value, "approval id");
}

/** Admits a string as the id of an input. Throws `invalid_id`. */
export function inputId(value: string): InputId {
  return admit(value, "input id");
}

/** A field of an actor, held to the same rule as an id: it is stored with each fact of a person. */
export function actorText(value: string): string {
  return admit(value, "user or via of an actor");
}

/** The owner of a session, held to the same rule as an id. Throws `invalid_id`. */
export function ownerText(value: string): string {
  return admit(value, "session's owner");
}

/** The run of an engine that drives sessions: as an id, but shorter. Throws `invalid_id`. */
export function engineRun(value: string): string {
  return admit(value, "run of an engine", maxEngineRunLength);
}

/** The title of a session: as an id, but twice as long. Throws `invalid_id`. */
export function titleText(value: string): string {
  return admit(value, "session's title", 2 * maxIdLength);
}
