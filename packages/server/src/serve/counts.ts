import type { Tenants } from "./tenants.ts";

/** What a server holds open. Tests compare it with that of a server at rest; in no entry of the package. */
export interface ServerCounts {
  /** Sessions that are watched, or were a moment ago. */
  readonly rooms: number;
  readonly streams: number;
}

const known = new WeakMap<object, Tenants>();

/** Called once for each server. */
export function noteTenants(millrace: object, tenants: Tenants): void {
  known.set(millrace, tenants);
}

/** What a server of `createMillrace` holds open now. */
export function countsOf(millrace: object): ServerCounts {
  const hubs = known.get(millrace)?.hubs() ?? [];
  return {
    rooms: hubs.reduce((sum, hub) => sum + hub.sessions(), 0),
    streams: hubs.reduce((sum, hub) => sum + hub.streams(), 0),
  };
}
