import { createHash } from "node:crypto";
import { MillraceError } from "@millrace/core";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import { inputId, runId, sessionId, sessionUid } from "@millrace/core/writing";
import type { SessionId } from "@millrace/core";
import type { Metadata } from "@millrace/core/writing";
import { hasWork } from "@millrace/core/ports";
import type { ClosedLane, Floor, SessionRecord, StoreRow, StoreWork } from "@millrace/core/ports";

/** An open lane, and the token of the call that opened it. */
export interface OpenFloor extends Floor {
  readonly token: string;
}

/** A session's row: what the store's rules decide by, and the version for compare-and-set. */
export interface SessionRow extends StoreRow<OpenFloor> {
  /** JSON, as it is stored. */
  readonly metadata: string;
  readonly chain: Buffer;
  readonly version: number;
  /** False for a row of an earlier release: its run and its queue are counted at its next write. */
  readonly workKnown: boolean;
}

/** The columns that `decodeRow` reads. */
export const rowColumns =
  "uid, name, metadata, incarnation, head, closed, closed_lanes::text, floors::text, chain, version, run, queue, driver";

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
    workKnown: columns["queue"] !== null,
  };
}

/** The part of a row that callers of the store see. */
export function recordOf(row: SessionRow, tenant: string): SessionRecord {
  const { uid, sessionId, incarnation, head } = row;
  return { uid, sessionId, tenant, metadata: decodeMetadata(row.metadata), incarnation, head };
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

/** The columns of a session's work: run, queue, driver, and whether there is any. */
export function encodeWork(work: StoreWork): readonly unknown[] {
  const { run, queue, driver } = work;
  const waiting = JSON.stringify(queue.map(({ inputId, kind }) => [inputId, kind]));
  const id = (value: string | undefined): Buffer | null => (value ? encodeId(value) : null);
  return [id(run), waiting, id(driver), hasWork(work)];
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

/** An id from its column. */
export function decodeId(bytes: unknown): string {
  return (bytes as Buffer).toString("utf8"); // a bytea column
}

function decodeWork(columns: Readonly<Record<string, unknown>>): StoreWork {
  const { run, queue, driver } = columns;
  const waiting = parseJsonText(typeof queue === "string" ? queue : "[]") as readonly (readonly [
    string,
    string,
  ])[]; // as `encodeWork` writes them
  return {
    run: run === null ? undefined : runId(decodeId(run)),
    queue: waiting.map(([id, kind]) => ({
      inputId: inputId(id),
      kind: kind as StoreWork["queue"][number]["kind"],
    })),
    driver: driver === null ? undefined : decodeId(driver),
  };
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
