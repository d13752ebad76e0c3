import { MillraceError } from "@millrace/core";
import type { Agent } from "@millrace/agent";
import { openSeat } from "@millrace/agent/engine";
import type { EngineSeat } from "@millrace/agent/engine";
import type { ChooseAgent, TenantStore } from "@millrace/agent/worker";
import type { BlobStore, EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import type { WorkflowArgs } from "../names.ts";

/** The agents of a worker, and where their sessions are. */
export interface SeatsOptions {
  /** The agent of all sessions, or the choice of one by the session's name and metadata. */
  readonly agent: Agent | ChooseAgent;
  readonly store: TenantStore;
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
}

/** What a worker keeps of a session: the seat of its loop, or the writer of another program. */
export type Kept = Pick<EngineSeat, "isBusy" | "isOver" | "close">;

/** Opens what is kept of a session. Undefined if nothing here is for it. */
type Open<Seat> = (record: SessionRecord, store: SessionStore) => Promise<Seat | undefined>;

/** Opens the seat of the session's agent. */
export function openSeatOf({ agent: given, log, blobs }: SeatsOptions): Open<EngineSeat> {
  return async (record, store) => {
    const agent = typeof given === "function" ? await given(record) : given;
    return agent === undefined ? undefined : await openSeat({ agent, record, store, log, blobs });
  };
}

/** Seats that are kept for sessions without a step. Each holds a session's recent items in memory. */
const mostSeats = 500;

/**
 * The seats of one worker. A session keeps its seat between steps, so that the next step here reads only
 * what is new, and so that a stop is heard at once. Seats without a step make room, longest unused first.
 */
export class Seats<Seat extends Kept> {
  readonly #store: TenantStore;
  readonly #openSeat: Open<Seat>;
  /** In the order of their use. */
  readonly #seats = new Map<string, Promise<Seat | undefined>>();
  /** The same object for each session of a tenant, because what is known of a store is kept by it. */
  readonly #stores = new Map<string, WeakRef<SessionStore>>();

  constructor(store: TenantStore, openSeat: Open<Seat>) {
    this.#store = store;
    this.#openSeat = openSeat;
  }

  /** The session's seat. Undefined if the session was removed, or if no agent is for it. */
  async of(session: WorkflowArgs): Promise<Seat | undefined> {
    const { uid } = session;
    const known = this.#seats.get(uid);
    const opened = known ?? this.#open(session);
    this.#seats.delete(uid);
    this.#seats.set(uid, opened); // the newest
    const forget = (): void => {
      if (this.#seats.get(uid) === opened) this.#seats.delete(uid);
    };
    try {
      const seat = await opened;
      if (seat === undefined) forget();
      if (seat?.isOver() !== true) {
        void this.#makeRoom();
        return seat;
      }
      forget();
      await seat.close();
    } catch (error) {
      forget();
      throw error;
    }
    return await this.of(session);
  }

  async close(): Promise<void> {
    const seats = [...this.#seats.values()];
    this.#seats.clear();
    await Promise.all(seats.map((seat) => seat.then((opened) => opened?.close()).catch(ignore)));
  }

  storeOf({ tenant }: Pick<WorkflowArgs, "tenant">): SessionStore {
    const store = this.#store;
    if (tenant === undefined) return store;
    const known = this.#stores.get(tenant)?.deref();
    if (known !== undefined) return known;
    const own = store.forTenant?.(tenant);
    if (own === undefined) {
      const why = "a session of a tenant is to be driven, and the worker's store has no forTenant";
      throw new MillraceError("invalid_definition", `${why}: give it the store of all tenants`);
    }
    this.#stores.set(tenant, new WeakRef(own));
    return own;
  }

  async #open(session: WorkflowArgs): Promise<Seat | undefined> {
    const store = this.storeOf(session);
    const record = await store.find(session.sessionId);
    return record?.uid === session.uid ? await this.#openSeat(record, store) : undefined;
  }

  async #makeRoom(): Promise<void> {
    for (const [uid, opened] of this.#seats) {
      if (this.#seats.size <= mostSeats) return;
      const seat = await opened.catch(() => undefined);
      if (seat?.isBusy() === true || this.#seats.get(uid) !== opened) continue;
      this.#seats.delete(uid);
      await seat?.close().catch(ignore);
    }
  }
}

function ignore(): undefined {
  return undefined;
}
