import { MillraceError } from "@millrace/core";
import type { Fact, SessionUid } from "@millrace/core";
import type { SessionLedger } from "@millrace/core/memory";
import type { OpenOutcome, OpenRequest } from "@millrace/core/ports";
import { claimCall, isReset, openCall } from "@millrace/core/store-kit";
import type { Floor } from "@millrace/core/store-kit";
import { checkBodies } from "../fact-text.ts";
import type { FileStore } from "./file-store.ts";
import type { Entry } from "./line.ts";
import type { FolderSecret } from "./secret.ts";
import type { SessionFile } from "./session-file.ts";
import type { SessionFolder } from "./session-folder.ts";
import type { Note } from "./writer.ts";

type Calls =
  | "key"
  | "read"
  | "head"
  | "floors"
  | "claimedBy"
  | "hasInput"
  | "checkpoint"
  | "keepCheckpoint"
  | "claim"
  | "accept"
  | "open"
  | "commit"
  | "append";

/** Makes the session of a sub-agent that an intent names, unless it is there. */
export type CreateChild = (
  parent: SessionUid,
  child: NonNullable<ReturnType<typeof openCall>["child"]>,
) => Promise<void>;

/** The calls that name a session by its uid, each by the rules of the ledger. */
export function createCalls(
  sessions: SessionFolder,
  secret: FolderSecret,
  createChild: CreateChild,
): Pick<FileStore, Calls> {
  const onFile = <T>(uid: SessionUid, use: (file: SessionFile) => Promise<T>): Promise<T> =>
    sessions.during(async () => use(sessions.known(uid) ?? (await sessions.fileOf(uid))));
  const view = <T>(uid: SessionUid, read: (ledger: SessionLedger) => T): Promise<T> =>
    onFile(uid, (file) => file.view(({ ledger }) => read(ledger)));
  const write = <T>(
    uid: SessionUid,
    call: (ledger: SessionLedger) => T,
    note: (outcome: T) => Note,
    all = false,
  ): Promise<T> => onFile(uid, (file) => file.write(call, note, { all }));

  return {
    key: async (uid) => {
      await view(uid, () => undefined); // throws if the session does not exist
      return secret.keyOf(uid);
    },
    read: (uid, options) => onFile(uid, (file) => file.read(options)),
    head: (uid) => view(uid, ({ head }) => head),
    floors: (uid) => view(uid, (ledger) => ledger.floors()),
    claimedBy: (uid, by) => view(uid, (ledger) => ledger.claimedBy(by)),
    hasInput: (uid, inputId) => view(uid, (ledger) => ledger.hasInput(inputId)),
    checkpoint: (uid) => onFile(uid, (file) => file.checkpoint()),
    keepCheckpoint: (uid, checkpoint) => onFile(uid, (file) => file.keepCheckpoint(checkpoint)),
    claim: (uid, request) =>
      write(
        uid,
        (ledger) => {
          checkBodies(claimCall(request).bodies);
          return ledger.claim(request);
        },
        (answer) => noted("claim", answer, { by: request.by }),
        request.to !== undefined,
      ),
    accept: (uid, key, body) =>
      write(
        uid,
        (ledger) => {
          checkBodies([body]);
          return ledger.accept(key, body);
        },
        (answer) => noted("accept", answer, { key }),
      ),
    open: async (uid, request) => {
      const { child } = openCall(uid, request);
      // Before the intent: two files are not one step, and an intent without its session would not be repaired.
      if (child !== undefined && (await view(uid, (ledger) => ledger.mayOpen(request))))
        await sessions.during(() => createChild(uid, child));
      return write(uid, (ledger) => openIn(ledger, request), notedOpening(request));
    },
    commit: (uid, request) =>
      write(
        uid,
        (ledger) => {
          const { fact, settlement = [], ahead } = request;
          checkBodies([fact, ...settlement, ...(ahead?.bodies ?? [])]);
          return ledger.commit(request);
        },
        (answer) => noted("commit", answer),
      ),
    append: (uid, request) =>
      write(
        uid,
        (ledger) => {
          checkBodies(request.bodies);
          if (request.opens !== undefined) checkFloor(request.opens);
          return ledger.append(request);
        },
        (answer) => noted("append", answer, floorOf(request.opens)),
        request.bodies.some(isReset),
      ),
  };
}

function openIn(ledger: SessionLedger, request: OpenRequest): OpenOutcome {
  checkBodies(request.intent === undefined ? [] : [request.intent]);
  checkFloor(request);
  return ledger.open(request);
}

/** The line of an `open`: it may store a floor alone. */
function notedOpening({ lane, epoch }: OpenRequest): (answer: OpenOutcome) => Note {
  return (answer) =>
    answer.outcome === "opened"
      ? { call: "open", facts: answer.facts, floor: { lane, epoch } }
      : undefined;
}

function floorOf(opens: Floor | undefined): { readonly floor?: Floor } {
  return opens === undefined ? {} : { floor: { lane: opens.lane, epoch: opens.epoch } };
}

/** The line of a call that stored facts; none if it stored none. Only `open` stores a floor alone. */
function noted(
  call: Entry["call"],
  answer: { readonly outcome: string; readonly facts?: readonly Fact[] },
  besides: Pick<Entry, "key" | "by" | "floor"> = {},
): Note {
  const { facts = [] } = answer;
  return facts.length === 0 ? undefined : { call, facts, ...besides };
}

function checkFloor({ lane, epoch }: Floor): void {
  if (Number.isSafeInteger(lane) && lane >= 0 && Number.isSafeInteger(epoch) && epoch >= 0) return;
  throw new MillraceError("invalid_event", `lane ${lane} and epoch ${epoch} are not whole numbers`);
}
