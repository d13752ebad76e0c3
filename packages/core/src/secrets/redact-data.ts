import { redact, secretsIn } from "./known-secrets.ts";

/**
 * Plain data without the secrets of this process, keys of objects included. Returns the same value if it
 * holds none. For causes and other data of errors, never for content.
 */
export function redactData<T>(data: T): T {
  return cleaned(data) as T; // only strings have changed
}

/** The names of the secrets that content holds in any of its strings, each once. */
export function secretsInData(data: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === "string") for (const name of secretsIn(value)) found.add(name);
    else if (isPlain(value)) for (const inner of Object.values(value)) visit(inner);
  };
  visit(data);
  return found;
}

/** The message of something that was thrown, without the secrets of this process. */
export function redactedMessage(thrown: unknown): string {
  return redact(thrown instanceof Error ? thrown.message : String(thrown));
}

/**
 * An error as it may be printed: the same one if none of its texts holds a secret, else a copy of it
 * without them, causes included. Stacks and fields of its own, such as `input` of an invalid URL, count.
 */
export function redactError(error: unknown): unknown {
  return cleaned(error);
}

function cleaned(value: unknown): unknown {
  const cleaner = new Cleaner();
  const clean = cleaner.clean(value);
  return cleaner.found ? clean : value;
}

/** Cleans one value. What an object comes to is kept, so that circles end and no object is read twice. */
class Cleaner {
  /** True if some text had a secret. */
  found = false;
  readonly #done = new Map<object, unknown>();

  clean(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.#text(value);
    if (!(value instanceof Error) && !isPlain(value)) return value;
    if (this.#done.has(value)) return this.#done.get(value);
    if (depth > deepest) return `[nested deeper than ${deepest}]`;
    this.#done.set(value, "[circular]");
    const clean = this.#fields(value, depth + 1);
    this.#done.set(value, clean);
    return clean;
  }

  #text(text: string): string {
    const clean = redact(text);
    this.found ||= clean !== text;
    return clean;
  }

  #fields(value: object, depth: number): unknown {
    // An error's message, stack and cause are not enumerable.
    const keys = value instanceof Error ? Object.getOwnPropertyNames(value) : Object.keys(value);
    let changed = false;
    const fields = keys.map((key) => {
      const before = read(value, key);
      const after = this.clean(before, depth);
      const name = this.#text(key);
      changed ||= after !== before || name !== key;
      return { key, name, after };
    });
    if (!changed) return value;
    if (Array.isArray(value)) return fields.slice(0, value.length).map(({ after }) => after);
    const copy: object = value instanceof Error ? errorLike(value) : {};
    for (const { key, name, after } of fields) {
      const enumerable = Object.prototype.propertyIsEnumerable.call(value, key);
      const place = { value: after, enumerable, writable: true, configurable: true };
      Object.defineProperty(copy, name, place);
    }
    return copy;
  }
}

/** Data of errors is nested deeper only by mistake or malice. */
const deepest = 200;

function read(value: object, key: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[key]; // any object can be read so
  } catch {
    return undefined; // a getter that throws
  }
}

function errorLike(error: Error): Error {
  const copy = new Error();
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object);
  return copy;
}

/** True for lists and plain objects of any realm. Others, such as bytes or a socket, are left alone. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
