import { MillraceError } from "@millrace/core";
import type { Agent } from "@millrace/agent";
import { openEngineSession } from "@millrace/agent/engine";
import type { EngineSession } from "@millrace/agent/engine";
import type { ChooseAgent, TenantStore } from "@millrace/agent/worker";
import type { BlobStore, EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import type { WorkflowArgs } from "../names.ts";

/** The agents of a worker, and where their sessions are. */
export interface OpenSessionsOptions {
  /** The agent of all sessions, or the choice of one by the session's name and metadata. */
  readonly agent: Agent | ChooseAgent;
  readonly store: TenantStore;
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
}

/** A session that is open in a worker: for the steps of its loop, or for another program that writes it. */
export type OpenedSession = Pick<EngineSession, "isBusy" | "isOver" | "close">;

/** Opens a session. Undefined if nothing here is for it. */
type Open<Session> = (record: SessionRecord, store: SessionStore) => Promise<Session | undefined>;

/** Opens sessions for the steps of their agents. */
export function openSessionOf({
  agent: given,
  log,
  blobs,
}: OpenSessionsOptions): Open<EngineSession> {
  return async (record, store) => {
    const agent = typeof given === "function" ? await given(record) : given;
    return agent === undefined
      ? undefined
      : await openEngineSession({ agent, record, store, log, blobs });
  };
}

/** Sessions that stay open without a step. Each has its recent items in memory. */
const mostSessions = 500;

/**
 * The sessions that are open in one worker. A session stays open between steps, so that the next step here
 * reads only what is new, and so that a stop ends its work at once. Sessions without a step are closed to
 * make room, longest unused first.
 */
export class OpenSessions<Session extends OpenedSession> {
  readonly #store: TenantStore;
  readonly #openSession: Open<Session>;
  /** In the order of their use. */
  readonly #sessions = new Map<string, Promise<Session | undefined>>();
  /** The same object for each session of a tenant, because drivers share what they have read by it. */
  readonly #stores = new Map<string, WeakRef<SessionStore>>();

  constructor(store: TenantStore, openSession: Open<Session>) {
    this.#store = store;
    this.#openSession = openSession;
  }

  /** Opens the session, or finds it open. Undefined if the session was removed, or if no agent is for it. */
  async of(session: WorkflowArgs): Promise<Session | undefined> {
    const { uid } = session;
    const opened = this.#sessions.get(uid) ?? this.#open(session);
    this.#sessions.delete(uid);
    this.#sessions.set(uid, opened); // the newest
    const forget = (): void => {
      if (this.#sessions.get(uid) === opened) this.#sessions.delete(uid);
    };
    try {
      const open = await opened;
      if (open === undefined) forget();
      if (open?.isOver() !== true) {
        void this.#makeRoom();
        return open;
      }
      forget();
      await open.close();
    } catch (error) {
      forget();
      throw error;
    }
    return await this.of(session);
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(
      sessions.map((session) => session.then((opened) => opened?.close()).catch(ignore)),
    );
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

  async #open(session: WorkflowArgs): Promise<Session | undefined> {
    const store = this.storeOf(session);
    const record = await store.find(session.sessionId);
    return record?.uid === session.uid ? await this.#openSession(record, store) : undefined;
  }

  async #makeRoom(): Promise<void> {
    for (const [uid, opened] of this.#sessions) {
      if (this.#sessions.size <= mostSessions) return;
      const session = await opened.catch(() => undefined);
      if (session?.isBusy() === true || this.#sessions.get(uid) !== opened) continue;
      this.#sessions.delete(uid);
      await session?.close().catch(ignore);
    }
  }
}

function ignore(): undefined {
  return undefined;
}
