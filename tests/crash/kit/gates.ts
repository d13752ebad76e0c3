/**
 * Places where a reply or a tool waits until the user has done something, so that the order of the
 * two is the same in every process.
 */
export interface Gates {
  readonly open: (name: string) => void;
  /** Resolves once the gate is open or the signal is aborted. */
  readonly pass: (name: string, signal?: AbortSignal) => Promise<void>;
  /** Whether a model or tool waits there. */
  readonly isWaitedAt: (name: string) => boolean;
}

export function createGates(): Gates {
  const opened = new Set<string>();
  const waiting = new Map<string, Set<() => void>>();
  const at = (name: string): Set<() => void> => {
    const known = waiting.get(name) ?? new Set();
    waiting.set(name, known);
    return known;
  };
  return {
    open: (name) => {
      opened.add(name);
      for (const go of at(name)) go();
    },
    pass: async (name, signal) => {
      if (opened.has(name) || signal?.aborted === true) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      at(name).add(resolve);
      signal?.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      at(name).delete(resolve);
    },
    isWaitedAt: (name) => at(name).size > 0,
  };
}
