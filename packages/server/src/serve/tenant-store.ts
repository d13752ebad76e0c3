import type { DriverIndex, SessionRecord, SessionStore } from "@millrace/core/ports";
import { memorySessionStore } from "@millrace/core/memory";
import type { TenantStore } from "@millrace/agent/worker";

/** A store for each tenant, made by the application or in memory. */
export type MakeStore = (tenant: string) => SessionStore;

type MemoryOptions = Parameters<typeof memorySessionStore>[0];

/**
 * A store that opens itself for each tenant, of whatever the application gave. A store of a tenant is made
 * once, and its records name the tenant, so that a driver finds the store of a session again.
 */
export function tenantStore(
  given: TenantStore | MakeStore | undefined,
  options: MemoryOptions,
): TenantStore {
  if (typeof given === "object") return given;
  const make = given ?? ((): SessionStore => memorySessionStore(options));
  const stores = new Map<string, SessionStore>();
  const forTenant = (tenant: string): SessionStore => {
    let store = stores.get(tenant);
    if (store === undefined) stores.set(tenant, (store = named(make(tenant), tenant)));
    return store;
  };
  // Readiness asks the store that was opened last: it is the one most likely in use.
  const find: SessionStore["find"] = async (id) => await [...stores.values()].at(-1)?.find(id);
  return { ...memorySessionStore(options), find, forTenant, drivers: indexOf(stores) };
}

/** The sessions with work in the stores that are open, each with its tenant. */
function indexOf(stores: ReadonlyMap<string, SessionStore>): DriverIndex {
  const indexes = (): readonly DriverIndex[] =>
    [...stores.values()].flatMap(({ drivers }) => drivers ?? []);
  return {
    beat: async (driver) => void (await Promise.all(indexes().map((index) => index.beat(driver)))),
    leave: async (driver) =>
      void (await Promise.all(indexes().map((index) => index.leave(driver)))),
    find: async (uid) => {
      for (const index of indexes()) {
        const sign = await index.find(uid);
        if (sign !== undefined) return sign;
      }
      return undefined;
    },
    due: async (options) => {
      const listed = [...stores].map(async ([tenant, { drivers }]) =>
        ((await drivers?.due(options)) ?? []).map((session) => ({ ...session, tenant })),
      );
      return (await Promise.all(listed)).flat();
    },
  };
}

/** The same store, with records that name its tenant. */
function named(store: SessionStore, tenant: string): SessionStore {
  const name = (record: SessionRecord): SessionRecord => ({ ...record, tenant });
  return {
    ...store,
    create: async (options) => name(await store.create(options)),
    find: async (id) => {
      const record = await store.find(id);
      return record && name(record);
    },
    list: async (options) => (await store.list(options)).map(name),
    page: async (query) => {
      const page = await store.page(query);
      return { ...page, records: page.records.map(name) };
    },
    update: async (uid, change) => {
      const updated = await store.update(uid, change);
      return { ...updated, record: name(updated.record) };
    },
    fork: async (uid, options) => name(await store.fork(uid, options)),
  };
}
