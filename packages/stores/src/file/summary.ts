import { checkJson, isJsonObject } from "@millrace/core/wire";
import type { SessionRecord, SessionStatus } from "@millrace/core/ports";
import { makeRecord, noWork, statusOf } from "@millrace/core/store-kit";
import type { StoreDetails, StoreRow } from "@millrace/core/store-kit";
import type { Metadata } from "@millrace/core/writing";

/** What a line says of the session's record after it, so that a list need not read the facts. */
export interface Summary {
  /** The time of the last activity. */
  readonly at: number;
  readonly status: SessionStatus;
  /** The byte at which the newest line of an update begins. Left out: there is none before this one. */
  readonly changed?: number | undefined;
}

/** What `update` makes of title and metadata. The line of an update holds it. */
export interface Change {
  readonly title?: string | undefined;
  readonly metadata: Metadata;
  readonly revision: number;
}

/** The details of a session as its file has them, and where the line is that changed them last. */
export interface FileDetails {
  details: StoreDetails;
  changed: number | undefined;
}

/** The summary after what a ledger has stored. */
export function summaryOf(
  { details, changed }: Readonly<FileDetails>,
  row: Pick<StoreRow, "run" | "queue" | "calls" | "updatedAt">,
): Summary {
  // A session that was made before records had times has no activity but that of its facts.
  const at = Math.max(row.updatedAt, details.createdAt);
  return { at, status: statusOf(row), ...(changed === undefined ? {} : { changed }) };
}

/** The record of a session by its details and a summary. */
export function recordBy(
  details: StoreDetails,
  { at, status }: Summary,
  progress: Pick<SessionRecord, "head" | "incarnation">,
): SessionRecord {
  return { ...makeRecord(details, { ...noWork, ...progress, updatedAt: at }), status };
}

/** The details after the line of an update. */
export function withChange(details: StoreDetails, { title, ...change }: Change): StoreDetails {
  const { title: _, ...rest } = details;
  return { ...rest, ...(title === undefined ? {} : { title }), ...change };
}

/** What an update line holds of details. */
export function changeOf({ title, metadata, revision }: StoreDetails): Change {
  return { title, metadata, revision };
}

/** The summary at the beginning of a line, without parsing the rest. Lines of earlier releases have none. */
export function readSummary(line: Buffer): Summary | undefined {
  const start =
    /^\{"call":"[a-z]{1,10}","at":(\d{1,16}),"status":"(idle|running|paused)"(?:,"changed":(\d{1,16}))?,/;
  const [, at, status, changed] = start.exec(line.toString("latin1", 0, 128)) ?? [];
  if (at === undefined || status === undefined) return undefined;
  const place = changed === undefined ? {} : { changed: Number(changed) };
  return { at: Number(at), status: status as SessionStatus, ...place }; // one of the three
}

/** Reads what an update line holds. Undefined for what no store has written. */
export function decodeChange(value: unknown): Change | undefined {
  if (!isJsonObject(value)) return undefined;
  const { title, metadata, revision } = value;
  if (title !== undefined && typeof title !== "string") return undefined;
  if (!isJsonObject(metadata) || checkJson(metadata) !== undefined) return undefined;
  if (typeof revision !== "number" || !Number.isSafeInteger(revision)) return undefined;
  return { ...(title === undefined ? {} : { title }), metadata, revision };
}
