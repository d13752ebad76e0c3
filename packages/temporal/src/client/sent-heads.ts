import type { SessionUid } from "@millrace/core";

/** So many are kept. One that was dropped costs a signal that says nothing new. */
const mostKept = 10_000;

interface Sent {
  readonly head: number;
  /** The look before which it was sent. */
  readonly look: number;
}

/** The heads that Temporal has from this process: for them there is nothing to send. */
export class SentHeads {
  readonly #sent = new Map<SessionUid, Sent>();
  #look = 0;

  has(uid: SessionUid, head: number): boolean {
    return (this.#sent.get(uid)?.head ?? 0) >= head;
  }

  add(uid: SessionUid, head: number): void {
    if (this.has(uid, head)) return;
    this.#sent.delete(uid); // the newest is the last
    this.#sent.set(uid, { head, look: this.#look });
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > mostKept && oldest !== undefined) this.#sent.delete(oldest);
  }

  /** The workflow that had it has ended: there is something to send again. */
  forget(uid: SessionUid): void {
    this.#sent.delete(uid);
  }

  /** Called before the index is read: what is sent from now on may be missing in its answer. */
  beginLook(): void {
    this.#look += 1;
  }

  /** Forgets sessions that had no work when the index was read: those that have some get a new head. */
  keepListed(listed: ReadonlySet<SessionUid>): void {
    for (const [uid, { look }] of this.#sent)
      if (look < this.#look && !listed.has(uid)) this.#sent.delete(uid);
  }
}
