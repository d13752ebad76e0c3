import type { LoopState } from "../loop/state.ts";

/** A set that throws on every change once it is fixed. */
class FixedSet<T> extends Set<T> {
  #fixed = false;

  fix(): this {
    this.#fixed = true;
    return this;
  }

  override add(value: T): this {
    if (this.#fixed) throw new TypeError("a set of the state was changed");
    return super.add(value);
  }

  override delete(_value: T): boolean {
    throw new TypeError("a set of the state was changed");
  }

  override clear(): void {
    throw new TypeError("a set of the state was changed");
  }
}

/** A map that throws on every change once it is fixed. */
class FixedMap<K, V> extends Map<K, V> {
  #fixed = false;

  fix(): this {
    this.#fixed = true;
    return this;
  }

  override set(key: K, value: V): this {
    if (this.#fixed) throw new TypeError("a map of the state was changed");
    return super.set(key, value);
  }

  override delete(_key: K): boolean {
    throw new TypeError("a map of the state was changed");
  }

  override clear(): void {
    throw new TypeError("a map of the state was changed");
  }
}

/** A copy of the state that throws on every change. Parts that are frozen already are not visited again. */
export function fixed(state: LoopState): LoopState {
  const { doing } = state;
  const calls = new FixedSet<Parameters<typeof doing.calls.has>[0]>();
  for (const call of doing.calls) calls.add(call);
  const verdicts = fixedMap(doing.verdicts);
  const answers = fixedMap(doing.answers);
  return freeze({ ...state, doing: { ...doing, calls: calls.fix(), verdicts, answers } });
}

function fixedMap<K, V>(map: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  const copy = new FixedMap<K, V>();
  for (const [key, value] of map) copy.set(key, freeze(value));
  return copy.fix();
}

/** Freezes a plain value all the way down. */
export function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) freeze<unknown>(each);
  return value;
}
