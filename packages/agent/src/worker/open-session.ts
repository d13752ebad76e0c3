import { MillraceError } from "@millrace/core";
import type { Clock, DueSession, SessionRecord, SessionStore } from "@millrace/core/ports";
import { definitionOf } from "../define/define-agent.ts";
import { shareLife } from "../drive/life.ts";
import type { DriverLife } from "../drive/life.ts";
import { openHost } from "../session/open.ts";
import type { Opened } from "../session/open.ts";
import { StoreOutage } from "../work/store-outage.ts";
import { countLostDrivers } from "./lost-drivers.ts";
import type { WorkerOptions } from "./worker.ts";

interface OpenerOptions extends Pick<
  WorkerOptions,
  "agent" | "store" | "log" | "blobs" | "allowance"
> {
  readonly clock: Clock;
  readonly random: () => number;
}

/** Opens the sessions of a worker, each in the store of its tenant and with its agent. */
export class SessionOpener {
  readonly #options: OpenerOptions;
  readonly #life: DriverLife;
  /** The same object for each session of a tenant, because open sessions are shared by their store. */
  readonly #stores = new Map<string, WeakRef<SessionStore>>();

  constructor(options: OpenerOptions, life: DriverLife) {
    this.#options = options;
    this.#life = life;
  }

  /**
   * Opens a session with its driver, and never creates one. Undefined if it was removed, or if no agent
   * is for it. Waits for a store that is away until the signal is aborted. `enter` rejects to refuse it.
   */
  async open(
    session: DueSession,
    signal: AbortSignal,
    enter: (record: SessionRecord) => Promise<void>,
  ): Promise<Opened | undefined> {
    const { log, blobs, clock, random, agent: given } = this.#options;
    const { uid, sessionId: id } = session;
    const store = this.#storeOf(session);
    const record = await new StoreOutage({ clock, random, signal }).retry(() => store.find(id));
    if (record?.uid !== uid) return undefined;
    const chosen = typeof given === "function" ? await given(record) : given;
    if (chosen === undefined) return undefined;
    await enter(record);
    const allowance = await this.#options.allowance?.(record);
    const definition = definitionOf(chosen);
    const ports = { store, log, blobs, clock, random };
    const opening = { ...ports, ...definition, id, record, allowance, waits: signal };
    return await openHost({ ...opening, ask: "wait" });
  }

  /** How many drivers the session's run has lost in a row, by one read of its last facts. */
  async lostDrivers(session: DueSession, signal: AbortSignal): Promise<number> {
    const { clock, random } = this.#options;
    const outage = new StoreOutage({ clock, random, signal });
    return await outage.retry(() => countLostDrivers(this.#storeOf(session), session));
  }

  #storeOf({ tenant }: DueSession): SessionStore {
    const { store } = this.#options;
    if (tenant === undefined) return store;
    const known = this.#stores.get(tenant)?.deref();
    if (known !== undefined) return known;
    const own = store.forTenant?.(tenant);
    if (own === undefined) {
      const why = "the index lists sessions of a tenant, and the store has no forTenant";
      throw new MillraceError("broken_port", why);
    }
    shareLife(own, this.#options.clock, this.#life);
    this.#stores.set(tenant, new WeakRef(own));
    return own;
  }
}
