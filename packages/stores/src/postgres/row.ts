import { createHash } from "node:crypto";
import { MillraceError } from "@millrace/core";
import { checkJson, isJsonObject, parseJsonText } from "@millrace/core/wire";
import { callId, inputId, runId, sessionId, sessionUid } from "@millrace/core/writing";
import type { SessionId } from "@millrace/core";
import type { Metadata } from "@millrace/core/writing";
import type { SessionParent, SessionRecord } from "@millrace/core/ports";
import { hasWork, makeRecord, parentOf, statusOf } from "@millrace/core/store-kit";
import type {
  ClosedLane,
  Floor,
  StoreDetails,
  StoreRow,
  StoreWork,
} from "@millrace/core/store-kit";

/** An open lane, and the token of the call that opened it. */
export interface OpenFloor extends Floor {
  readonly token: string;
}

/** A session's row: what the store's rules decide by, and the version for compare-and-set. */
export interface SessionRow extends StoreRow<OpenFloor> {
  /** JSON as it was at creation, with which the chain begins. */
  readonly metadata: string;
  /** As they were when the row was read: an update changes no version. */
  readonly details: StoreDetails;
  readonly chain: Buffer;
  readonly version: number;
  /** False for a row of an earlier release: its run and its queue are counted at its next write. */
  readonly workKnown: boolean;
}

/** The columns that `decodeRow` reads. */
export const rowColumns =
  "uid, name, metadata, incarnation, head, closed, closed_lanes::text, floors::text, chain, version, run, queue, driver, calls, updated_at, owner, title, parent, parent_call, parent_uid, metadata_now, revision, created_at";

/** Reads a row that was selected with `rowColumns`. */
export function decodeRow(columns: Readonly<Record<string, unknown>>): SessionRow {
  return {
    uid: sessionUid(String(columns["uid"])),
    sessionId: decodeName(columns["name"] as Buffer), // a bytea column
    metadata: String(columns["metadata"]),
    incarnation: Number(columns["incarnation"]),
    head: Number(columns["head"]), // epochs and heads fit a double: the codec checks them
    closed: Number(columns["closed"]),
    closedLanes: decodeLanes(columns["closed_lanes"], (lane, epoch) => ({
      lane,
      epoch: Number(epoch),
    })),
    floors: decodeLanes(columns["floors"], (lane, value) => {
      const [epoch, token] = value as readonly unknown[]; // as `encodeFloors` writes them
      return { lane, epoch: Number(epoch), token: String(token) };
    }),
    ...decodeWork(columns),
    chain: columns["chain"] as Buffer, // a bytea column
    version: Number(columns["version"]),
    workKnown: columns["queue"] !== null && columns["calls"] !== null,
    details: decodeDetails(columns),
  };
}

/** The part of a row that callers of the store see. */
export function recordOf(row: SessionRow, tenant: string): SessionRecord {
  return { ...makeRecord(row.details, row), tenant };
}

/** Closed lanes as their column holds them: an object of epochs by lane. */
export function encodeClosedLanes(lanes: readonly ClosedLane[]): string {
  return JSON.stringify(Object.fromEntries(lanes.map(({ lane, epoch }) => [lane, epoch])));
}

/** Floors as their column holds them: an object of epoch and token by lane. */
export function encodeFloors(floors: readonly OpenFloor[]): string {
  return JSON.stringify(
    Object.fromEntries(floors.map(({ lane, epoch, token }) => [lane, [epoch, token]])),
  );
}

/** The columns of a session's work: run, queue, driver, whether there is any, calls, activity, status. */
export function encodeWork(work: StoreWork): readonly unknown[] {
  const { run, queue, driver, calls, updatedAt } = work;
  const waiting = JSON.stringify(queue.map(({ inputId, kind }) => [inputId, kind]));
  const open = JSON.stringify(calls.map(({ callId, on }) => [callId, on]));
  const own = [optional(run), waiting, optional(driver), hasWork(work)];
  return [...own, open, updatedAt, statusOf(work)];
}

/** An id or a text as its column holds it. Null: there is none. */
export function optional(value: string | undefined): Buffer | null {
  return value ? encodeId(value) : null;
}

/** A name as its column holds it: in UTF-16, high byte first, so that bytes order as units do. */
export function encodeName(name: string): Buffer {
  return Buffer.from(name, "utf16le").swap16();
}

/** An id as its column holds it. Ids are well-formed, so this is one to one. */
export function encodeId(id: string): Buffer {
  return Buffer.from(id, "utf8");
}

/** A key as its column holds it. Keys may be any text of any length, so it is their hash. */
export function encodeKey(key: string): Buffer {
  return createHash("sha256").update(Buffer.from(key, "utf16le")).digest();
}

/** The column of metadata. Throws `invalid_event` for what is not plain JSON. */
export function encodeMetadata(id: string, metadata: Metadata): string {
  if (checkJson(metadata) === undefined) return JSON.stringify(metadata);
  throw new MillraceError("invalid_event", `the metadata of ${id} is not plain JSON`);
}

/** An id from its column. */
export function decodeId(bytes: unknown): string {
  return (bytes as Buffer).toString("utf8"); // a bytea column
}

function decodeWork(columns: Readonly<Record<string, unknown>>): StoreWork {
  const { run, queue, driver, calls } = columns;
  const [waiting, open] = [queue, calls].map(
    (text) => parseJsonText(typeof text === "string" ? text : "[]") as Pairs,
  ) as [Pairs, Pairs]; // as `encodeWork` writes them
  return {
    run: run === null ? undefined : runId(decodeId(run)),
    queue: waiting.map(([id, kind]) => ({
      inputId: inputId(id),
      kind: kind as StoreWork["queue"][number]["kind"],
    })),
    driver: driver === null ? undefined : decodeId(driver),
    calls: open.map(([id, on]) => ({
      callId: callId(id),
      on: on as StoreWork["calls"][number]["on"],
    })),
    updatedAt: Number(columns["updated_at"]),
  };
}

type Pairs = readonly (readonly [string, string])[];

function decodeDetails(columns: Readonly<Record<string, unknown>>): StoreDetails {
  const { owner, title, metadata, metadata_now: changed } = columns;
  const name = decodeName(columns["name"] as Buffer); // a bytea column, as the others
  const parent = decodeParent(name, columns);
  return {
    uid: sessionUid(String(columns["uid"])),
    sessionId: name,
    ...(owner === null ? {} : { owner: decodeId(owner) }),
    ...(title === null ? {} : { title: decodeId(title) }),
    ...(parent && { parent }),
    metadata: decodeMetadata(String(changed ?? metadata)),
    revision: Number(columns["revision"]),
    createdAt: Number(columns["created_at"]),
  };
}

function decodeParent(
  name: SessionId,
  columns: Readonly<Record<string, unknown>>,
): SessionParent | undefined {
  const { parent, parent_call: call, parent_uid: known } = columns;
  // A row of an earlier release has no uid: there the name alone says whose child it is.
  const uid = typeof known === "string" ? sessionUid(known) : parentOf(name);
  if (parent === null || call === null || uid === undefined) return undefined;
  return { uid, sessionId: decodeName(parent as Buffer), callId: callId(decodeId(call)) };
}

/** A name from its column. */
export function decodeName(bytes: Buffer): SessionId {
  return sessionId(Buffer.from(bytes).swap16().toString("utf16le"));
}

function decodeMetadata(text: string): Metadata {
  const value = parseJsonText(text);
  if (isJsonObject(value)) return value;
  throw new MillraceError("corrupt_session", "the metadata of a session is not an object");
}

function decodeLanes<T extends { readonly lane: number }>(
  text: unknown,
  decode: (lane: number, value: unknown) => T,
): readonly T[] {
  const value = parseJsonText(String(text));
  return Object.entries(isJsonObject(value) ? value : {})
    .map(([lane, own]) => decode(Number(lane), own))
    .toSorted((left, right) => left.lane - right.lane);
}
