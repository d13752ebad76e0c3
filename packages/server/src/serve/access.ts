import type { Clock, SessionRecord } from "@millrace/core/ports";
import { MillraceError } from "@millrace/core";
import { isChildOf, parentOf } from "@millrace/core/store-kit";
import { decodeCursor } from "@millrace/core/wire";
import { servedSession } from "../auth/authorize.ts";
import type { Authorize } from "../auth/authorize.ts";
import { askApplication } from "../auth/authenticator.ts";
import type { SessionAction, Identity, ServedSession } from "../http/identity.ts";
import { Problem, notFound } from "../http/problem.ts";
import type { Metadata } from "../http/types.ts";
import type { TenantPorts } from "../http/route-context.ts";

/** Sub-agents may have sub-agents; deeper is a loop. */
const deepest = 32;

/** Finds sessions for an identity, and asks the one authoriser about them. */
export class Access {
  readonly #authorize: Authorize;
  readonly #clock: Clock;

  constructor(authorize: Authorize, clock: Clock) {
    this.#authorize = authorize;
    this.#clock = clock;
  }

  /** The session, if the action is allowed. Throws the one 404 without `read`, `forbidden` with it. */
  async find(
    ports: TenantPorts,
    who: Identity,
    id: string,
    actions: readonly SessionAction[],
  ): Promise<SessionRecord> {
    const record = await findRecord(ports, id);
    if (record === undefined) throw notFound();
    const session = await this.#rootOf(ports, record);
    for (const action of actions) {
      if (await this.allows(who, action, session)) continue;
      if (action === "read" || !(await this.allows(who, "read", session))) throw notFound();
      throw new Problem("forbidden", `you may read this session, but not ${action}`);
    }
    return record;
  }

  /** The same, without a refusal: undefined if it is missing or the action is not allowed. */
  async open(
    ports: TenantPorts,
    who: Identity,
    id: string,
    action: SessionAction,
  ): Promise<SessionRecord | undefined> {
    const record = await findRecord(ports, id);
    return record !== undefined && (await this.allowsRecord(ports, who, action, record))
      ? record
      : undefined;
  }

  /** Whether an action on a session that was read is allowed. For a sub-agent's session its root is asked for. */
  async allowsRecord(
    ports: TenantPorts,
    who: Identity,
    action: SessionAction,
    record: SessionRecord,
  ): Promise<boolean> {
    return this.allows(who, action, await this.#rootOf(ports, record));
  }

  /**
   * Asks about something that is not there yet, so that nothing is to be hidden. Throws `forbidden`. Nobody
   * makes a session by the name that a sub-agent's has: the agent would work in it, and its maker decide there.
   */
  async admit(who: Identity, action: SessionAction, session: ServedSession): Promise<void> {
    if (action === "create" && parentOf(session.id) !== undefined)
      throw new Problem("forbidden", "names of this form are those of sub-agents' sessions");
    if (await this.allows(who, action, session)) return;
    throw new Problem("forbidden", `you may not ${action} sessions here`);
  }

  /** Asks about a session as new metadata would leave it. Of a sub-agent's session: about its root with that metadata. */
  async admitMetadata(
    ports: TenantPorts,
    who: Identity,
    record: SessionRecord,
    metadata: Metadata,
  ): Promise<void> {
    const current = await this.#rootOf(ports, record);
    if (await this.allows(who, "manage", { ...current, metadata }, current)) return;
    throw new Problem("forbidden", "you may not give this session that metadata", {
      pointer: "/metadata",
    });
  }

  async allows(
    who: Identity,
    action: SessionAction,
    session: ServedSession,
    current?: ServedSession,
  ): Promise<boolean> {
    const asked = { who, action, session, ...(current === undefined ? {} : { current }) };
    const answer = await askApplication(this.#clock, "authorize", () => this.#authorize(asked));
    return (answer as unknown) === true;
  }

  async #rootOf(ports: TenantPorts, record: SessionRecord): Promise<ServedSession> {
    let root = record;
    for (let depth = 0; root.parent !== undefined; depth += 1) {
      const above = depth < deepest ? await findRecord(ports, root.parent.sessionId) : undefined;
      // A session that has taken the name of the parent since is another one.
      if (above === undefined || !isChildOf(root, above)) throw notFound();
      root = above;
    }
    return servedSession(root, ports.tenant);
  }
}

/** An id that can't be one names nothing. */
async function findRecord({ store }: TenantPorts, id: string): Promise<SessionRecord | undefined> {
  try {
    return await store.find(id);
  } catch (error) {
    if (MillraceError.is(error) && error.code === "invalid_id") return undefined;
    throw error;
  }
}

/** A reader that comes back to a session. */
interface Returning {
  readonly access: Access;
  readonly ports: TenantPorts;
  readonly who: Identity;
  readonly id: string;
  /** The cursor that the reader sent. */
  readonly cursor: string | undefined;
}

/**
 * Whether the session that a cursor names was removed, and the caller could read it. Its `EventSource`
 * then gets 204 and stops; to anyone else a removed session is one that never was.
 */
export async function wasRemoved({ access, ports, who, id, cursor }: Returning): Promise<boolean> {
  const at = cursor === undefined ? undefined : decodeCursor(cursor);
  if (at === undefined) return false;
  const tombstone = await ports.store.tombstone(id);
  if (tombstone === undefined || tombstone.uid !== at.uid) return false;
  const { owner = "" } = tombstone;
  return access.allows(who, "read", { id, tenant: ports.tenant, owner, metadata: {} });
}
