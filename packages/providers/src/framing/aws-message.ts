import { crc32 } from "./crc32.ts";

/** One message of `application/vnd.amazon.eventstream`. */
export interface AwsMessage {
  readonly headers: ReadonlyMap<string, AwsHeaderValue>;
  /** A view of the bytes that the message was read from. */
  readonly payload: Uint8Array;
}

/** The value of a header, with the name of its type: there are three sizes of integers. */
export type AwsHeaderValue =
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "byte" | "short" | "integer"; readonly value: number }
  | { readonly type: "long"; readonly value: bigint }
  | { readonly type: "binary"; readonly value: Uint8Array }
  | { readonly type: "string" | "uuid"; readonly value: string }
  /** Milliseconds since 1970. */
  | { readonly type: "timestamp"; readonly value: bigint };

/** The two lengths that a message begins with, and their checksum. */
export const preludeSize = 12;
/** The checksum of the whole message, at its end. */
const trailerSize = 4;
/** The most that the format allows. */
const maxHeaders = 128 * 1024;

/** The lengths of a message. */
export interface AwsPrelude {
  /** Of the whole message, with prelude and checksums. */
  readonly total: number;
  readonly headers: number;
}

/**
 * Reads the first 12 bytes of a message. Returns why they can't be its beginning, so that a length
 * that is wrong is found before anything is buffered by it.
 */
export function readPrelude(bytes: Uint8Array, limit: number): AwsPrelude | string {
  const view = viewOf(bytes);
  const total = view.getUint32(0);
  const headers = view.getUint32(4);
  if (crc32(bytes, 0, 8) !== view.getUint32(8)) return "the checksum of its lengths is wrong";
  if (headers > maxHeaders) return `its headers are longer than ${maxHeaders} bytes`;
  if (total < preludeSize + headers + trailerSize) return "it is shorter than its own parts";
  return total > limit ? `it is longer than ${limit} bytes` : { total, headers };
}

/** Reads a whole message, or returns why it is none. */
export function readMessage(bytes: Uint8Array, { headers }: AwsPrelude): AwsMessage | string {
  const end = bytes.length - trailerSize;
  if (crc32(bytes, 0, end) !== viewOf(bytes).getUint32(end)) return "its checksum is wrong";
  const read = readHeaders(bytes.subarray(preludeSize, preludeSize + headers));
  if (typeof read === "string") return read;
  return { headers: read, payload: bytes.subarray(preludeSize + headers, end) };
}

function readHeaders(bytes: Uint8Array): ReadonlyMap<string, AwsHeaderValue> | string {
  const headers = new Map<string, AwsHeaderValue>();
  const reader = new HeaderReader(bytes);
  while (!reader.isDone) {
    const name = reader.text(reader.byte());
    const value = reader.value();
    if (value === undefined || reader.isShort) return "its headers can't be read";
    if (headers.has(name)) return "it has a header twice";
    headers.set(name, value);
  }
  return headers;
}

/** Reads values one after the other. Past the end it reads zeros, and `isShort` is true. */
class HeaderReader {
  isShort = false;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  text(length: number): string {
    return lenient.decode(this.take(length));
  }

  take(length: number): Uint8Array {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    if (taken.length < length) this.isShort = true;
    this.#at += length;
    return taken;
  }

  /** The next value, or undefined if it is cut or its type is unknown. */
  value(): AwsHeaderValue | undefined {
    const type = this.byte();
    const size = sizes[type];
    if (size !== undefined) return this.#sized(type, size);
    if (type !== 6 && type !== 7) return undefined;
    const length = this.#sized(3, 2);
    if (length?.type !== "short") return undefined;
    const bytes = this.take(length.value & 0xffff);
    return type === 6
      ? { type: "binary", value: bytes.slice() }
      : { type: "string", value: lenient.decode(bytes) };
  }

  #sized(type: number, size: number): AwsHeaderValue | undefined {
    const at = this.#at;
    const bytes = this.take(size);
    if (this.isShort) return undefined;
    switch (type) {
      case 0:
      case 1:
        return { type: "boolean", value: type === 0 };
      case 2:
        return { type: "byte", value: this.#view.getInt8(at) };
      case 3:
        return { type: "short", value: this.#view.getInt16(at) };
      case 4:
        return { type: "integer", value: this.#view.getInt32(at) };
      case 5:
        return { type: "long", value: this.#view.getBigInt64(at) };
      case 8:
        return { type: "timestamp", value: this.#view.getBigInt64(at) };
      default:
        return { type: "uuid", value: uuidOf(bytes) };
    }
  }
}

/** The size of a value by the number of its type. Types 6 and 7 have their length before them. */
const sizes: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function uuidOf(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
