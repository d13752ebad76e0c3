/** A store that can be closed. */
interface Closable {
  readonly close: () => Promise<void>;
}

/**
 * The stores of the tenants of one pool: one for each that is in use, so that all sessions of a tenant
 * in a process share what the store remembers. A store that nothing refers to any more is forgotten.
 */
export class TenantStores<Store extends Closable> {
  readonly #make: (tenant: string) => Store;
  readonly #stores = new Map<string, WeakRef<Store>>();
  readonly #collected = new FinalizationRegistry<string>((tenant) => {
    if (this.#stores.get(tenant)?.deref() === undefined) this.#stores.delete(tenant);
  });
  #closed = false;

  constructor(make: (tenant: string) => Store) {
    this.#make = make;
  }

  /** The store of a tenant. After `close` it is closed from the start. */
  of(tenant: string): Store {
    const known = this.#stores.get(tenant)?.deref();
    if (known !== undefined) return known;
    const store = this.#make(tenant);
    if (this.#closed) void store.close();
    this.#stores.set(tenant, new WeakRef(store));
    this.#collected.register(store, tenant);
    return store;
  }

  /** Forgets a store that was closed. */
  forget(tenant: string): void {
    this.#stores.delete(tenant);
  }

  /** Closes all. */
  close(): void {
    this.#closed = true;
    for (const store of this.#stores.values()) void store.deref()?.close();
  }
}
