import { createHash } from "node:crypto";
import { checkJson, isJsonObject, parseJsonText } from "@millrace/core/wire";
import { callId, sessionId, sessionUid } from "@millrace/core/writing";
import type { Fact, SessionId } from "@millrace/core";
import type { SessionParent } from "@millrace/core/ports";
import { parentOf } from "@millrace/core/store-kit";
import type { Floor, StoreDetails } from "@millrace/core/store-kit";
import { decodeFact, encodeFact } from "../fact-text.ts";
import { decodeChange } from "./summary.ts";
import type { Change, Summary } from "./summary.ts";

/** The version of the file format. Facts have a version of their own. */
const formatVersion = 1;

/** The first line: which session this is, and its details at creation. */
export interface Header extends Omit<StoreDetails, "revision" | "createdAt"> {
  /** Left out by earlier releases. */
  readonly createdAt?: number | undefined;
}

/** Every other line: all that one call stored. */
export interface Entry {
  readonly call: "claim" | "accept" | "open" | "commit" | "append" | "fork" | "import" | "update";
  readonly facts: readonly Fact[];
  /** The key of `accept`. */
  readonly key?: string | undefined;
  /** The run of an engine that `claim` was made by. */
  readonly by?: string | undefined;
  /** The floor that `open`, or an `append` that opens a lane, raised. */
  readonly floor?: Floor | undefined;
  /** What `update` made of title and metadata. */
  readonly change?: Change | undefined;
  /** Left out by earlier releases, and where another line of the same call follows. */
  readonly summary?: Summary | undefined;
  /** The number of the session's last fact, and its incarnation, after this call. */
  readonly head: number;
  readonly incarnation: number;
}

/** An encoded line, and the hash that the next one is chained to. */
export interface Written {
  readonly bytes: Buffer;
  readonly hash: string;
}

/** The content of a line, or why it can't be read. */
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** What the first line is chained to. */
export const noHash = "";

/** `,"hash":"…"}` at the end of every line. */
export const sealLength = 75;
const seal = /^,"hash":"([0-9a-f]{64})"\}$/;

/** The first line of a file. */
export function encodeHeader(header: Header): Written {
  const { uid, sessionId, metadata, owner, title, parent, createdAt } = header;
  const own = { uid, sessionId, metadata, owner, title, parent, createdAt };
  const fields = { millrace: "session", format: formatVersion, ...own };
  return close(noHash, JSON.stringify(fields).slice(0, -1));
}

/** The line that follows one with the hash `before`. */
export function encodeEntry(before: string, entry: Entry): Written {
  const { call, key, by, floor, facts, head, incarnation, summary, change } = entry;
  // The summary comes first, and in this order: `readSummary` finds it without parsing the line.
  const { at, status, changed } = summary ?? {};
  const fields = { call, at, status, changed, key, by, ...floor, change };
  const start = JSON.stringify(fields).slice(0, -1);
  const texts = facts.map(encodeFact).join(",");
  return close(before, `${start},"facts":[${texts}],"head":${head},"incarnation":${incarnation}`);
}

/** The line's own hash, if the line is unchanged and follows one with the hash `before`. */
export function checkSeal(before: string, line: Buffer): string | undefined {
  const hash = statedHash(line);
  if (hash === undefined) return undefined;
  return chain(before, line.subarray(0, -sealLength)) === hash ? hash : undefined;
}

/** The hash that a line states at its end, unchecked. */
export function statedHash(line: Buffer): string | undefined {
  if (line.length < sealLength) return undefined;
  return seal.exec(line.toString("latin1", line.length - sealLength))?.[1];
}

/** The head and incarnation after this line, read from its end without parsing the rest. */
export function progressOf(line: Buffer): Pick<Entry, "head" | "incarnation"> | undefined {
  const end = line.toString(
    "latin1",
    Math.max(0, line.length - sealLength - 64),
    line.length - sealLength,
  );
  const [, head, incarnation] = /\],"head":(\d{1,16}),"incarnation":(\d{1,8})$/.exec(end) ?? [];
  if (head === undefined || incarnation === undefined) return undefined;
  return { head: Number(head), incarnation: Number(incarnation) };
}

/** Reads a first line whose seal was checked. */
export function decodeHeader(line: Buffer): Read<Header> {
  const fields = fieldsOf(line);
  if (fields?.["millrace"] !== "session") return refuse("it is not the header of a session");
  if (fields["format"] !== formatVersion) return refuse("it was written by a later release");
  const { uid, sessionId: id, metadata } = fields;
  if (typeof uid !== "string" || typeof id !== "string" || !isJsonObject(metadata)) {
    return refuse("the header lacks a field");
  }
  if (checkJson(metadata) !== undefined) return refuse("the metadata is not plain JSON");
  const { owner, title, createdAt } = fields;
  try {
    const own = { uid: sessionUid(uid), sessionId: sessionId(id), metadata };
    return {
      ok: true,
      value: {
        ...own,
        ...(typeof owner === "string" ? { owner } : {}),
        ...(typeof title === "string" ? { title } : {}),
        ...decodeParent(fields["parent"], id),
        ...(typeof createdAt === "number" ? { createdAt } : {}),
      },
    };
  } catch {
    return refuse("an id in the header can't be one");
  }
}

/**
 * Reads a line whose seal was checked. Its facts must be numbered from `before` on, in this session. If
 * that is left out, they must end at the line's own head.
 */
export function decodeEntry(
  line: Buffer,
  before: number | undefined,
  session: SessionId,
): Read<Entry> {
  const fields = fieldsOf(line);
  if (fields === undefined) return refuse("it is not JSON");
  const { call, key, by, lane, epoch, incarnation } = fields;
  const texts = fields["facts"];
  if (typeof call !== "string" || !Array.isArray(texts)) return refuse("it has no facts");
  const head = before ?? Number(fields["head"]) - texts.length;
  const facts: Fact[] = [];
  for (const value of texts) {
    const text = textOf(value);
    if (text === undefined) return refuse("it nests deeper than a fact can");
    const read = decodeFact(text);
    if (!read.ok) return refuse(`fact ${head + facts.length + 1} can't be read: ${read.message}`);
    if (read.fact.n !== head + facts.length + 1 || read.fact.sessionId !== session) {
      return refuse(`expected fact ${head + facts.length + 1} of ${session}`);
    }
    facts.push(read.fact);
  }
  if (fields["head"] !== head + facts.length) return refuse("its head is not its last fact");
  const change = fields["change"] === undefined ? undefined : decodeChange(fields["change"]);
  if (fields["change"] !== undefined && change === undefined)
    return refuse("its change is not one");
  const isFloor = Number.isSafeInteger(lane) && Number.isSafeInteger(epoch);
  return {
    ok: true,
    value: {
      call: call as Entry["call"], // informative only: its effect is in the other fields
      facts,
      key: typeof key === "string" ? key : undefined,
      by: typeof by === "string" ? by : undefined,
      floor: isFloor ? { lane: lane as number, epoch: epoch as number } : undefined,
      change,
      head: head + facts.length,
      incarnation: Number(incarnation),
    },
  };
}

/** Throws for ids that can't be ids. Earlier releases left the uid out: there the child's own name says it. */
function decodeParent(value: unknown, name: string): { readonly parent?: SessionParent } {
  if (!isJsonObject(value)) return {};
  const { uid: known, sessionId: id, callId: call } = value;
  const [parent = "", called = ""] = [id, call].filter((each) => typeof each === "string");
  const uid = typeof known === "string" ? sessionUid(known) : parentOf(name);
  if (uid === undefined) return {};
  return { parent: { uid, sessionId: sessionId(parent), callId: callId(called) } };
}

function close(before: string, start: string): Written {
  const hash = chain(before, start);
  return { bytes: Buffer.from(`${start},"hash":"${hash}"}\n`, "utf8"), hash };
}

function chain(before: string, start: string | Buffer): string {
  return createHash("sha256").update(before).update(start).digest("hex");
}

/** Undefined for what nests too deep to be written again: no store has written it. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fieldsOf(line: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJsonText(line.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
