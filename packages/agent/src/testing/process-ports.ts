import type { DriverIndex, EventLog, SessionStore } from "@millrace/core/ports";

/** The ports as one process has them. After `kill` no call of them settles, as if the process were gone. */
export interface ProcessPorts {
  readonly ports: { readonly store: SessionStore; readonly log: EventLog };
  readonly kill: () => void;
}

/** Ports of one more process over shared ones. Each copy of a store has a driver name of its own. */
export function processPorts(shared: SessionStore, log: EventLog): ProcessPorts {
  const killed = { value: false };
  const { drivers } = shared;
  if (drivers === undefined) throw new Error("the store has no index of drivers");
  const index: DriverIndex = mortal(drivers, killed);
  const store = { ...mortal(shared, killed), now: shared.now, drivers: index };
  const ports = { store, log: mortal(log, killed) };
  return { ports, kill: () => (killed.value = true) };
}

/** The object with all functions that return promises changed so that they hang once it is killed. */
function mortal<Port extends object>(port: Port, killed: { readonly value: boolean }): Port {
  const entries = Object.entries(port).map(([name, member]: readonly [string, unknown]) => {
    if (!isFunction(member)) return [name, member] as const;
    const call = (...args: readonly unknown[]): unknown => {
      if (killed.value) return new Promise(() => undefined);
      const answer = Reflect.apply(member, port, args);
      if (!(answer instanceof Promise)) return answer;
      const settled: Promise<unknown> = answer;
      return settled.then((value) => (killed.value ? new Promise(() => undefined) : value));
    };
    return [name, call] as const;
  });
  return Object.fromEntries(entries) as Port; // the same names with functions of the same types
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === "function";
}
