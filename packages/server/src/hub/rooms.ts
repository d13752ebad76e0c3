import type { SessionUid } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { HubOptions, WatchOptions } from "./options.ts";
import { Room } from "./room.ts";

/** The rooms of a hub: one for each session that is watched, or was a moment ago. */
export class Rooms {
  readonly #options: HubOptions;
  readonly #clock: Clock;
  readonly #open = new Map<SessionUid, Room>();
  #closed = false;

  constructor(options: HubOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  get store(): HubOptions["store"] {
    return this.#options.store;
  }

  /** The room of a session, which is opened if there is none. Nothing once all are closed. */
  of({ uid, sessionId }: Pick<WatchOptions, "uid" | "sessionId">): Room | undefined {
    if (this.#closed) return undefined;
    const known = this.#open.get(uid);
    if (known !== undefined) return known;
    const { store, log, pollMs = 5_000, heartbeatMs = 15_000, ...limits } = this.#options;
    const room: Room = new Room({
      store,
      log,
      clock: this.#clock,
      uid,
      sessionId,
      // A heartbeat carries a head that was read since the last one.
      pollMs: Math.min(pollMs, heartbeatMs),
      lingerMs: limits.lingerMs ?? 5_000,
      keptFacts: limits.keptFacts ?? 1_000,
      snapshotBytes: limits.snapshotBytes ?? 256 * 1_024,
      keptMessages: limits.keptMessages ?? 512,
      onEnd: () => this.#open.delete(uid),
    });
    this.#open.set(uid, room);
    return room;
  }

  /** Ends every viewer, and from now on each new one at once. */
  close(): void {
    this.#closed = true;
    for (const room of this.#open.values()) room.close({ reason: "drain" });
  }
}
