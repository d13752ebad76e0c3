import { closeSync, readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Fact, InputId, Item, ItemId } from "@millrace/core";
import type { EarlierFacts, LookupEntry, Reset } from "@millrace/core/memory";
import { holdsItem } from "@millrace/core/store-kit";
import type { StoreRow } from "@millrace/core/store-kit";
import type { Base, OpenSubjects } from "./base.ts";
import { corrupt } from "./corrupt.ts";
import { IdTable, LostTableError } from "./id-table.ts";
import type { TableRef } from "./id-table.ts";
import { checkSeal, decodeEntry, noHash, progressOf, sealLength, statedHash } from "./line.ts";
import type { Entry, Header } from "./line.ts";
import { openOwnSync } from "./own-file.ts";
import type { Place } from "./places.ts";
import { lineFeed, readBlock, readLines } from "./scan.ts";

const blockLength = 16 * 1024;

/** Where the table of a session's ids is. */
export function tablePath(path: string): string {
  return `${path}.ids`;
}

/**
 * The facts up to a base, on the disk. A call that looks one up reads the table of ids and the lines
 * that it names, synchronously: a call is decided in one step, as with all facts in memory.
 */
export class StoredFacts implements EarlierFacts {
  readonly #path: string;
  readonly #header: Header;
  readonly #table: IdTable;
  readonly base: Base;
  /** The table that the base names, or a larger one in its place. */
  ref: TableRef;

  constructor(path: string, header: Header, base: Base) {
    this.#path = path;
    this.#header = header;
    this.#table = new IdTable(tablePath(path));
    this.base = base;
    this.ref = base.table;
  }

  get row(): StoreRow {
    return this.base.row;
  }

  get open(): OpenSubjects {
    return this.base.open;
  }

  get resets(): readonly Reset[] {
    return this.base.resets;
  }

  keyed(key: string): Fact | undefined {
    return this.#entriesOf("key", key).find((entry) => entry.key === key)?.facts[0];
  }

  item(itemId: ItemId): Item | undefined {
    const items = this.#entriesOf("item", itemId)
      .flatMap(({ facts }) => facts.filter(holdsItem))
      .filter(({ item }) => item.id === itemId);
    return items.at(-1)?.item;
  }

  accepted(inputId: InputId): boolean {
    return this.#entriesOf("input", inputId).some(({ facts }) =>
      facts.some((fact) => fact.type === "input_accepted" && fact.inputId === inputId),
    );
  }

  claimedBy(by: string): number | undefined {
    return this.#entriesOf("by", by).find((entry) => entry.by === by)?.incarnation;
  }

  #entriesOf(kind: LookupEntry["kind"], id: string): readonly Entry[] {
    const places = this.#table.find(this.ref, { kind, id }).filter((at) => at < this.base.end);
    return places.map((at) => this.#entryAt(at));
  }

  /** Throws `LostTableError` if there is no such line: reading all of them then finds out why. */
  #entryAt(at: number): Entry {
    const line = readLineAt(this.#path, at);
    const read = line && decodeEntry(line, undefined, this.#header.sessionId);
    if (read?.ok !== true) throw new LostTableError();
    return read.value;
  }
}

/** Which facts are read from the disk: those above `first`, up to and with `last`. */
export interface FactRange {
  readonly first: number;
  readonly last: number;
}

/** Reads facts before a base. Linear in what is read, and in the lines since the last mark. */
export async function readRange(
  handle: FileHandle,
  { path, header, base }: { readonly path: string; readonly header: Header; readonly base: Base },
  { first, last }: FactRange,
): Promise<readonly Fact[]> {
  const start = base.marks.find(first);
  if (start === undefined) throw corrupt(path, { number: 1, at: 0 }, "its base has no marks");
  let hash = await hashBefore(handle, start);
  const facts: Fact[] = [];
  const from = { number: start.number - 1, at: start.at };
  for await (const line of readLines(handle, from, base.end)) {
    const head = progressOf(line.bytes)?.head;
    if (head === undefined) throw corrupt(path, line, "its checksum is wrong");
    if (head <= first) {
      hash = statedHash(line.bytes);
      continue;
    }
    const next = hash === undefined ? undefined : checkSeal(hash, line.bytes);
    if (next === undefined) throw corrupt(path, line, "its checksum is wrong");
    const read = decodeEntry(line.bytes, undefined, header.sessionId);
    if (!read.ok) throw corrupt(path, line, read.message);
    for (const fact of read.value.facts) {
      if (fact.n > first && fact.n <= last) facts.push(fact);
    }
    if (head >= last) break;
    hash = next;
  }
  return facts;
}

async function hashBefore(handle: FileHandle, { at }: Place): Promise<string | undefined> {
  return at === 0 ? noHash : statedHash(await readBlock(handle, at - sealLength - 1, sealLength));
}

/** The line that begins at a byte, without its line feed. Undefined if its seal is wrong. */
export function readLineAt(path: string, at: number): Buffer | undefined {
  const file = openOwnSync(path);
  try {
    const seal = Buffer.alloc(sealLength);
    readSync(file, seal, 0, sealLength, at - sealLength - 1);
    const blocks: Buffer[] = [];
    for (let next = at; ;) {
      const block = Buffer.alloc(blockLength);
      const length = readSync(file, block, 0, blockLength, next);
      const end = block.subarray(0, length).indexOf(lineFeed);
      blocks.push(block.subarray(0, end < 0 ? length : end));
      if (end >= 0 || length === 0) break;
      next += length;
    }
    const line = Buffer.concat(blocks);
    const hash = statedHash(seal);
    return hash !== undefined && checkSeal(hash, line) !== undefined ? line : undefined;
  } finally {
    closeSync(file);
  }
}
