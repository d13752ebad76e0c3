import type { Json } from "@millrace/core";

/** A value as JSON, and whether the JSON holds all of the value. */
export interface Described {
  readonly json: Json;
  /** False if something in it has no JSON of its own and is described instead. */
  readonly exact: boolean;
}

/** What a stored part may have, and less: depth, and the sum of values and characters. */
const maxDepth = 64;
const maxNodes = 100_000;
const maxLength = 1024 * 1024;

/**
 * Turns whatever a tool returns into JSON. What JSON.stringify converts faithfully is converted alike:
 * undefined fields are left out, `toJSON` is called, an instance is its own fields. What it would drop,
 * misstate or choke on is described in its place: functions, symbols, BigInts, Maps, bytes, errors,
 * cycles, getters that throw, values too deep or too large. Never throws; bounded in time and memory.
 */
export function describe(value: unknown): Described {
  const describer = new Describer();
  const json = describer.visit(value, 0);
  return { json, exact: describer.exact };
}

class Describer {
  exact = true;
  #nodes = 0;
  #length = 0;
  /** The objects that we are inside of. */
  readonly #above = new Set<object>();

  visit(value: unknown, depth: number): Json {
    try {
      return this.#visit(value, depth);
    } catch (error) {
      // A getter, a proxy or a toJSON of the tool's own; also a stack that the tool had used up.
      return this.#instead(`unreadable: ${readMessage(error)}`);
    }
  }

  #visit(value: unknown, depth: number): Json {
    this.#nodes += 1;
    if (this.#nodes > maxNodes || this.#length > maxLength) return this.#instead("left out");
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        if (!Number.isFinite(value)) return this.#instead(String(value));
        return value === 0 ? 0 : value; // JSON text has no -0
      case "boolean":
        return value;
      case "object":
        return value === null ? null : this.#object(value, depth);
      case "undefined":
        return this.#instead("undefined");
      case "bigint":
        return this.#instead(`bigint ${bigintText(value)}`);
      case "symbol":
        return this.#instead(`symbol ${value.description ?? ""}`);
      case "function":
        return this.#instead(`function ${value.name}`);
      default:
        return this.#instead(typeof value);
    }
  }

  #text(value: string): Json {
    this.#length += value.length;
    if (this.#length > maxLength) return this.#instead(`text of ${value.length} characters`);
    return value.toWellFormed();
  }

  #object(value: object, depth: number): Json {
    if (depth >= maxDepth) return this.#instead("too deep");
    if (this.#above.has(value)) return this.#instead("the same again");
    this.#above.add(value);
    try {
      // Before toJSON is asked, since a Buffer's lists each byte.
      if (isBytes(value)) return this.#instead(`${value.byteLength} bytes`);
      if (speaksJson(value)) return this.visit(value.toJSON(), depth + 1);
      if (Array.isArray(value)) return this.#array(value, depth);
      const special = nameOf(value);
      return special === undefined ? this.#fields(value, depth) : this.#instead(special);
    } finally {
      this.#above.delete(value);
    }
  }

  #array(value: readonly unknown[], depth: number): Json {
    const rows: Json[] = [];
    for (let at = 0; at < value.length && !this.#full(); at += 1) {
      // As in JSON.stringify: a hole in a list is null, so that the others keep their places.
      rows.push(value[at] === undefined ? null : this.visit(value[at], depth + 1));
    }
    if (rows.length < value.length) rows.push(this.#instead(`${value.length - rows.length} more`));
    return rows;
  }

  #fields(value: object, depth: number): Json {
    const record: Record<string, Json> = {};
    for (const key of Object.keys(value)) {
      if (this.#full()) {
        this.exact = false;
        break;
      }
      const child = this.#read(value, key, depth);
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
      const child: unknown = (value as Readonly<Record<string, unknown>>)[key];
      return child === undefined ? undefined : this.visit(child, depth + 1);
    } catch (error) {
      return this.#instead(`unreadable: ${readMessage(error)}`);
    }
  }

  #full(): boolean {
    return this.#nodes >= maxNodes || this.#length > maxLength;
  }

  #instead(description: string): string {
    this.exact = false;
    return `[${description.trim().slice(0, 200).toWellFormed()}]`;
  }
}

function isBytes(value: object): value is ArrayBufferView | ArrayBuffer {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function speaksJson(value: object): value is { readonly toJSON: () => unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** What an object is, for objects whose fields don't show it. */
function nameOf(value: object): string | undefined {
  if (value instanceof Error) return readMessage(value);
  if (value instanceof Map) return `Map of ${value.size}`;
  if (value instanceof Set) return `Set of ${value.size}`;
  // A promise, a pattern, a weak reference, a generator: such objects have no fields of use.
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return tag === "Object" ? undefined : tag;
}

/** A BigInt can have a million digits, and writing them takes time that grows with their square. */
function bigintText(value: bigint): string {
  return BigInt.asIntN(512, value) === value ? String(value) : "of more than 512 bits";
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
