import type { Json } from "@millrace/core";

/** A value as JSON, and whether the JSON holds all of the value. */
export interface Described {
  readonly json: Json;
  /** False if something in it has no JSON of its own and is described instead. */
  readonly exact: boolean;
  /** The first thing that is described, with its place, such as `NaN at rows.3`. Left out if all is exact. */
  readonly problem?: string;
}

/** What a stored part may have, and less: depth, and the sum of values and characters. */
const maxDepth = 64;
const maxNodes = 100_000;
const maxLength = 1024 * 1024;
/** Larger BigInts take time that grows with the square of their digits. */
const maxBits = 65_536;

/**
 * Turns whatever a tool returns into JSON. `JsonOf` is the same at the type level. As JSON.stringify
 * does, it leaves out fields that are undefined, functions or symbols, calls `toJSON`, and takes an
 * instance for its own fields. What JSON.stringify can't write is written: a BigInt as its digits, a Set
 * as its values, a Map as its entries, an error with its name and message.
 *
 * All else would be dropped or misstated, and is described in its place: NaN and infinities, dates
 * without a time, bytes, promises, cycles, getters that throw, values too deep or too large. Never
 * throws; bounded in time and memory.
 */
export function describe(value: unknown): Described {
  const describer = new Describer();
  const visited = describer.visit(value, 0);
  const json = visited === undefined ? describer.instead(typeof value) : visited;
  const { problem } = describer;
  return problem === undefined ? { json, exact: true } : { json, exact: false, problem };
}

class Describer {
  problem: string | undefined;
  #nodes = 0;
  #length = 0;
  /** The objects that we are inside of. */
  readonly #above = new Set<object>();
  /** The fields and rows that lead to the value that is visited. */
  readonly #path: (string | number)[] = [];

  /** Undefined for what JSON leaves out. */
  visit(value: unknown, depth: number): Json | undefined {
    const above = this.#path.length;
    try {
      return this.#visit(value, depth);
    } catch (error) {
      // A getter, a proxy or a toJSON of the tool's own; also a stack that the tool had used up.
      this.#path.length = above;
      return this.instead(`unreadable: ${readMessage(error)}`);
    }
  }

  #visit(value: unknown, depth: number): Json | undefined {
    this.#nodes += 1;
    if (this.#nodes > maxNodes || this.#length > maxLength) return this.instead("left out");
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        if (!Number.isFinite(value)) return this.instead(String(value));
        return value === 0 ? 0 : value; // JSON text has no -0
      case "boolean":
        return value;
      case "bigint":
        if (BigInt.asIntN(maxBits, value) !== value) return this.instead("a very large bigint");
        return this.#text(String(value));
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return undefined;
    }
  }

  #text(value: string): Json {
    this.#length += value.length;
    if (this.#length > maxLength) return this.instead(`text of ${value.length} characters`);
    return value.toWellFormed();
  }

  #object(value: object, depth: number): Json | undefined {
    if (depth >= maxDepth) return this.instead("too deep");
    if (this.#above.has(value)) return this.instead("the same again");
    this.#above.add(value);
    try {
      // Before toJSON is called, since a Buffer's lists each byte, and that of a date without a time is null.
      if (isBytes(value)) return this.instead(`${value.byteLength} bytes`);
      if (value instanceof Date && Number.isNaN(value.getTime()))
        return this.instead(String(value));
      if (speaksJson(value)) return this.visit(value.toJSON(), depth + 1);
      if (Array.isArray(value)) return this.#rows(value, value.length, depth);
      if (value instanceof Map || value instanceof Set) return this.#rows(value, value.size, depth);
      const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
      if (value instanceof Error || tag === "Error") return this.#error(value, depth);
      // A promise, a pattern, a weak reference, a generator: such objects have no fields of use.
      return tag === "Object" ? this.#fields(value, {}, depth) : this.instead(tag);
    } finally {
      this.#above.delete(value);
    }
  }

  #rows(values: Iterable<unknown>, length: number, depth: number): Json {
    const rows: Json[] = [];
    for (const value of values) {
      if (this.#full()) break;
      this.#path.push(rows.length);
      // As in JSON.stringify: what is left out of a list is null, so that the others keep their places.
      rows.push(this.visit(value, depth + 1) ?? null);
      this.#path.pop();
    }
    if (rows.length < length) rows.push(this.instead(`${length - rows.length} more`));
    return rows;
  }

  /** Both fields may be inherited, and hold anything: they come from the code that made the error. */
  #error(value: { readonly name?: unknown; readonly message?: unknown }, depth: number): Json {
    const name = this.#text(String(value.name));
    return this.#fields(value, { name, message: this.#text(String(value.message)) }, depth);
  }

  #fields(value: object, record: Record<string, Json>, depth: number): Json {
    for (const key of Object.keys(value)) {
      if (this.#full()) {
        this.instead("more fields");
        break;
      }
      this.#path.push(key);
      const child = this.#read(value, key, depth);
      this.#path.pop();
      if (child === undefined) continue;
      this.#length += key.length;
      // Defined, not assigned: a key `__proto__` is data like any other.
      Object.defineProperty(record, key.toWellFormed(), {
        value: child,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return record;
  }

  /** One getter that throws does not hide the other fields. */
  #read(value: object, key: string, depth: number): Json | undefined {
    try {
      return this.visit((value as Readonly<Record<string, unknown>>)[key], depth + 1);
    } catch (error) {
      return this.instead(`unreadable: ${readMessage(error)}`);
    }
  }

  #full(): boolean {
    return this.#nodes >= maxNodes || this.#length > maxLength;
  }

  instead(description: string): string {
    const shown = description.trim().slice(0, 200).toWellFormed();
    this.problem ??= shown + this.#place();
    return `[${shown}]`;
  }

  #place(): string {
    if (this.#path.length === 0) return "";
    return ` at ${this.#path.join(".").slice(0, 200).toWellFormed()}`;
  }
}

function isBytes(value: object): value is ArrayBufferView | ArrayBuffer {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function speaksJson(value: object): value is { readonly toJSON: () => unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** The message of something that was thrown. Never throws, whatever that is; never a stack. */
export function readMessage(thrown: unknown): string {
  try {
    if (typeof thrown === "string") return thrown;
    if (!(thrown instanceof Error)) return messageField(thrown) ?? String(thrown);
    // Both fields may hold anything: they come from the code that threw.
    const { message, name }: { readonly message: unknown; readonly name: unknown } = thrown;
    return message === "" ? String(name) : String(message);
  } catch {
    // Reading the message threw as well, so there is nothing to report.
    return "something that can't be read";
  }
}

/** Errors of other realms, and things that look like one. */
function messageField(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  if (!("message" in thrown) || typeof thrown.message !== "string") return undefined;
  return thrown.message === "" ? undefined : thrown.message;
}
