import { AsyncLocalStorage } from "node:async_hooks";

/** Sources of the packages that have a clock. */
const ours = /packages\/(?:core|agent|server|dialects)\/src\/(?!.*(?:testing|\.test\.))/;

/** The places that are given to whoever wants the machine's. */
const given = /core\/src\/(?:reference\/system|ports\/clock)\.ts/;

const places: readonly (readonly [object: object, name: string])[] = [
  [globalThis, "setTimeout"],
  [globalThis, "setInterval"],
  [Date, "now"],
  [performance, "now"],
  [Math, "random"],
  [AbortSignal, "timeout"],
  [crypto, "randomUUID"],
];

/**
 * Does some work, and returns where in our sources the machine's own time and chance were asked for by it, and
 * by nothing else: other tests of this process may have left something that goes on.
 */
export async function machineUse(work: () => Promise<void>): Promise<readonly string[]> {
  const callers = new Set<string>();
  const inWork = new AsyncLocalStorage<true>();
  const restored = places.map(([object, name]) => {
    const known = (object as Record<string, (...given: unknown[]) => unknown>)[name];
    const before = Object.getOwnPropertyDescriptor(object, name);
    const value = function noted(this: unknown, ...parameters: unknown[]): unknown {
      const caller = inWork.getStore() && callerOf(new Error().stack ?? "");
      if (caller !== undefined) callers.add(`${name} ${caller}`);
      return known?.apply(object, parameters);
    };
    Object.defineProperty(object, name, { value, configurable: true, writable: true });
    return () => {
      if (before === undefined) Reflect.deleteProperty(object, name);
      else Object.defineProperty(object, name, before);
    };
  });
  try {
    await inWork.run(true, work);
  } finally {
    for (const restore of restored) restore();
  }
  return [...callers];
}

/** A port that passes the machine's on counts as its caller: a host with a clock of its own calls neither. */
function callerOf(stack: string): string | undefined {
  const lines = stack.split("\n").filter((line) => ours.test(line));
  return lines.find((line) => !given.test(line))?.trim() ?? lines[0]?.trim();
}
