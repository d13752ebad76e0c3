import type { SessionUid } from "@millrace/core";
import type { DueSession, SessionRecord } from "@millrace/core/ports";
import type { WorkerSession } from "./worker-session.ts";
import type { SessionSlot, WorkerOptions } from "./worker.ts";

/** Thrown while a session is opened that may not be worked on now. Not a failure of the session. */
export class NotAdmitted extends Error {
  override readonly name = "NotAdmitted";
}

/** After a refusal by all processes together, a session is not asked for again for about so long. */
const refusedMs = 750;

interface Refused {
  readonly record: SessionRecord;
  /** By the monotonic clock: nothing notifies this process when another one gives a slot back. */
  until: number;
}

interface Entered {
  readonly record: SessionRecord;
  slot?: SessionSlot | undefined;
  rests: boolean;
}

export interface AdmissionOptions extends Pick<WorkerOptions, "admit" | "acquireSlot"> {
  readonly monotonic: () => number;
  readonly random: () => number;
  /** The name of the worker's driver. */
  readonly driver: string;
}

/**
 * Holds sessions back that `admit` or `acquireSlot` refuses. An open session without work is counted, because its
 * next prompt begins without a question; so it is closed where that makes room for another one here.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #open: () => Iterable<WorkerSession>;
  readonly #refused = new Map<SessionUid, Refused>();
  /** Sessions that were admitted and are not closed. */
  readonly #entered = new Map<SessionUid, Entered>();
  /** Slots that are being given back. */
  readonly #leaving = new Set<Promise<unknown>>();

  constructor(options: AdmissionOptions, open: () => Iterable<WorkerSession>) {
    this.#options = options;
    this.#open = open;
  }

  /** True while a session is held back. */
  get holdsBack(): boolean {
    return this.#refused.size > 0;
  }

  /** Throws `NotAdmitted`. Until `left` is called the session is counted. */
  async enter(record: SessionRecord): Promise<void> {
    const { admit, acquireSlot, monotonic, random, driver } = this.#options;
    if (admit === undefined && acquireSlot === undefined) return;
    if (!this.#mayEnter(record)) throw this.#refuse(record, 0);
    const entered: Entered = { record, rests: false };
    this.#entered.set(record.uid, entered); // before the wait, in which others are asked for
    if (acquireSlot !== undefined) {
      entered.slot = await acquireSlot(record, driver);
      if (entered.slot === undefined) {
        this.#entered.delete(record.uid);
        const pause = refusedMs * (1 + random() / 3);
        throw this.#refuse(record, monotonic() + pause);
      }
    }
    this.#refused.delete(record.uid);
  }

  /** The session was closed, or could not be opened. */
  left(uid: SessionUid): void {
    const slot = this.#entered.get(uid)?.slot;
    this.#entered.delete(uid);
    if (slot === undefined) return;
    const leaving = Promise.resolve(slot.leave()).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    leaving.catch(() => undefined); // a slot that is not given back is its owner's matter
    for (const refused of this.#refused.values()) refused.until = 0;
  }

  /** Settles once all slots are free whose sessions were closed. */
  async allLeft(): Promise<void> {
    await Promise.allSettled(this.#leaving);
  }

  /** The session has no work and stays open, or has got work. */
  idles(uid: SessionUid, idle: boolean): void {
    this.#entered.get(uid)?.slot?.idle?.(idle);
  }

  /** This worker has taken the session over from a driver. */
  supersede(uid: SessionUid, driver: string): void {
    this.#entered.get(uid)?.slot?.supersede?.(driver);
  }

  /** True for a session that was refused and would be again. */
  isHeldBack({ uid }: DueSession): boolean {
    const refused = this.#refused.get(uid);
    if (refused === undefined) return false;
    return this.#options.monotonic() < refused.until || !this.#mayEnter(refused.record);
  }

  /** Forgets sessions that have no work any more. */
  keepListed(listed: ReadonlySet<SessionUid>): void {
    for (const uid of this.#refused.keys()) if (!listed.has(uid)) this.#refused.delete(uid);
  }

  /** Lets slots rest whose sessions wait for a person, and takes them up again afterwards. */
  review(): void {
    const open = this.#openByUid();
    for (const entered of this.#entered.values()) {
      const rests = waits(open.get(entered.record.uid));
      if (rests !== entered.rests) entered.slot?.rest(rests);
      entered.rests = rests;
    }
  }

  #refuse(record: SessionRecord, until: number): NotAdmitted {
    this.#refused.set(record.uid, { record, until });
    return new NotAdmitted(`${record.sessionId} waits: too many others are worked on`);
  }

  #openByUid(): ReadonlyMap<SessionUid, WorkerSession> {
    return new Map([...this.#open()].map((at) => [at.session.uid, at]));
  }

  #mayEnter(record: SessionRecord): boolean {
    const { admit } = this.#options;
    if (admit === undefined) return true;
    const open = this.#openByUid();
    const active = [...this.#entered.values()]
      .map((entered) => entered.record)
      .filter((other) => other.uid !== record.uid && !waits(open.get(other.uid)));
    if (admit(record, active)) return true;
    const leaves = active.find(
      ({ uid }) =>
        open.get(uid)?.isIdle === true &&
        admit(
          record,
          active.filter((other) => other.uid !== uid),
        ),
    );
    if (leaves !== undefined) open.get(leaves.uid)?.leave();
    return false;
  }
}

/** True for a session whose run waits for a person. */
function waits(at: WorkerSession | undefined): boolean {
  return at !== undefined && !at.isWorking && !at.isIdle;
}
