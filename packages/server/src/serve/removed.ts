import { decodeCursor } from "@millrace/core/wire";
import type { Identity } from "../http/identity.ts";
import type { TenantPorts } from "../http/route-context.ts";
import type { Access } from "./access.ts";

/** A reader that comes back to a session. */
interface Returning {
  readonly access: Access;
  readonly ports: TenantPorts;
  readonly who: Identity;
  readonly id: string;
  /** Where the reader says it is. */
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
