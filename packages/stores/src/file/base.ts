import { createHash } from "node:crypto";
import { schemaVersion } from "@millrace/core/wire";
import type { Fact, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { StoreDetails, StoreRow } from "@millrace/core/store-kit";
import type { Reset } from "@millrace/core/memory";
import { decodeFact, encodeFact } from "../fact-text.ts";
import { replaceWhole } from "./folder.ts";
import type { TableRef } from "./id-table.ts";
import { readOwn } from "./own-file.ts";
import { Places } from "./places.ts";
import type { Place } from "./places.ts";

/** The inputs that wait and the questions of the run: what a person's call may be about. */
export type OpenSubjects = Pick<SessionState, "queue" | "approvals">;

type QueuedInput = OpenSubjects["queue"][number];
type Approval = OpenSubjects["approvals"][number];

/**
 * What is known of a session up to a line of its file, so that opening it reads the lines after that
 * one only. A cache beside the file: the line's hash, which covers all lines before it, binds it to them.
 */
export interface Base {
  readonly uid: SessionUid;
  /** The last line that it covers: its number, the byte after it, and its hash. */
  readonly lines: number;
  readonly end: number;
  readonly hash: string;
  readonly row: StoreRow;
  readonly details: StoreDetails;
  /** The byte at which the newest line of an update begins. */
  readonly changed: number | undefined;
  readonly open: OpenSubjects;
  readonly resets: readonly Reset[];
  /** Some lines, by which facts are found in the file. */
  readonly marks: Places;
  readonly table: TableRef;
}

/** Later releases that change the form count this up: a base of another form is left aside. */
const form = 3;

/** Where the base of a session's file is. */
function basePath(path: string): string {
  return `${path}.base`;
}

/** Writes a base in the place of the one before. */
export async function writeBase(path: string, base: Base): Promise<void> {
  const { open, marks, ...rest } = base;
  const fields = { form, ...rest, ...textsOf(open, base.row), marks: marks.toArray() };
  await replaceWhole(basePath(path), sealText(JSON.stringify(fields)));
}

/** The base of a session. Undefined if there is none, or if it is not whole or of another session. */
export async function readBase(path: string, uid: SessionUid): Promise<Base | undefined> {
  const text = openText(await readOwn(basePath(path)).catch(() => ""));
  if (text === undefined) return undefined;
  // Its checksum is right, so a store has written it, and its fields are those of its form.
  const stored = JSON.parse(text) as StoredBase;
  if (stored.form !== form || stored.uid !== uid) return undefined;
  const { queue, approvals, marks, form: _, ...rest } = stored;
  const open = subjectsOf(queue, approvals);
  return open && { ...rest, open, marks: Places.of(marks) };
}

interface StoredBase extends Omit<Base, "open" | "marks"> {
  readonly form: number;
  readonly queue: readonly string[];
  readonly approvals: readonly (readonly string[])[];
  readonly marks: readonly Place[];
}

/** A text with its checksum before it. */
export function sealText(text: string): string {
  return `${createHash("sha256").update(text).digest("hex")}\n${text}`;
}

/** The text after its checksum, if that is right. */
export function openText(sealed: string): string | undefined {
  const text = sealed.slice(65);
  return sealText(text) === sealed ? text : undefined;
}

function textsOf(
  { queue, approvals }: OpenSubjects,
  { sessionId }: { readonly sessionId: SessionId },
): Pick<StoredBase, "queue" | "approvals"> {
  // Which envelope an input has makes no difference: only the input is taken out of it again.
  const envelope = { v: schemaVersion, n: 1, sessionId, time: 0 } as const;
  return {
    queue: queue.map(({ inputId, input }) =>
      encodeFact({ type: "input_accepted", inputId, input, ...envelope }),
    ),
    approvals: approvals.map(({ asked, answer }) =>
      (answer === undefined ? [asked] : [asked, answer]).map(encodeFact),
    ),
  };
}

function subjectsOf(
  queue: StoredBase["queue"],
  approvals: StoredBase["approvals"],
): OpenSubjects | undefined {
  const open: { queue: QueuedInput[]; approvals: Approval[] } = { queue: [], approvals: [] };
  for (const text of queue) {
    const fact = factOf(text);
    if (fact?.type !== "input_accepted" || fact.input.kind === "abort") return undefined;
    open.queue.push({ inputId: fact.inputId, input: fact.input });
  }
  for (const [question = "", reply] of approvals) {
    const asked = factOf(question);
    const answer = reply === undefined ? undefined : factOf(reply);
    if (asked?.type !== "approval_requested") return undefined;
    if (answer !== undefined && answer.type !== "approval_resolved") return undefined;
    open.approvals.push(answer === undefined ? { asked } : { asked, answer });
  }
  return open;
}

function factOf(text: string): Fact | undefined {
  const read = decodeFact(text);
  return read.ok ? read.fact : undefined;
}
