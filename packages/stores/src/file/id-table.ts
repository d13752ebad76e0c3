import { createHash, randomBytes } from "node:crypto";
import { closeSync, constants, readSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { LookupEntry } from "@millrace/core/memory";
import { openOwn, openOwnSync } from "./own-file.ts";
import { readBlock } from "./scan.ts";

/** What is looked up, and the byte at which the line begins that has it. */
export interface PlacedEntry extends Pick<LookupEntry, "kind" | "id"> {
  readonly at: number;
}

/** Which table this is: a file that was made anew has another id. */
export interface TableRef {
  readonly id: string;
  readonly slots: number;
  /** How many are taken, at least. */
  readonly taken: number;
}

/** The table that a session's base names is gone. All facts have to be read instead. */
export class LostTableError extends Error {
  constructor() {
    super("the table of ids is not the one that was written");
  }
}

const headerLength = 32;
const slotLength = 16;
/** Slots that are read at once. */
const blockSlots = 16;
const fewestSlots = 1_024;
const emptySlot = Buffer.alloc(slotLength);

/**
 * A hash table in a file: 8 bytes of hash and the place of a line in each slot, found by one read
 * whatever the session's length. The same id may have several places, and a place may be of another
 * id: whoever looks up reads the lines. Entries are only ever added. The writer of the session adds
 * them in place, and states in another file how far they go; what was added beyond that does no harm.
 */
export class IdTable {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The places for an id, in their order. Throws `LostTableError` if the file is gone or is not this table. */
  find({ id, slots }: TableRef, wanted: Pick<LookupEntry, "kind" | "id">): readonly number[] {
    let file: number;
    try {
      file = openOwnSync(this.#path);
    } catch {
      throw new LostTableError();
    }
    try {
      const read = (at: number, length: number): Buffer => {
        const block = Buffer.alloc(length);
        return block.subarray(0, readSync(file, block, 0, length, at));
      };
      if (!read(0, headerLength).equals(headerOf(id))) throw new LostTableError();
      return findIn(read, slots, hashOf(wanted));
    } finally {
      closeSync(file);
    }
  }

  /**
   * Adds entries and returns the table that has them: the given one, or a larger one in its place.
   * Without a table a new one is made. Throws `LostTableError` if the file is not the given table.
   */
  async add(table: TableRef | undefined, entries: readonly PlacedEntry[]): Promise<TableRef> {
    const taken = (table?.taken ?? 0) + entries.length;
    if (table === undefined) return this.#make(entries.map(slotOf), taken);
    const handle = await openOwn(this.#path, constants.O_RDWR).catch(() => undefined);
    if (handle === undefined) throw new LostTableError();
    try {
      const header = await readBlock(handle, 0, headerLength);
      if (!header.equals(headerOf(table.id))) throw new LostTableError();
      if (2 * taken > table.slots) {
        const before = slotsIn(await readBlock(handle, headerLength, table.slots * slotLength));
        return await this.#make([...before, ...entries.map(slotOf)], taken);
      }
      for (const entry of entries) await insert(handle, table.slots, slotOf(entry));
      await handle.datasync(); // before the file that states that they are there
      return { ...table, taken };
    } finally {
      await handle.close();
    }
  }

  async #make(filled: readonly Slot[], taken: number): Promise<TableRef> {
    const id = randomBytes(16).toString("hex");
    const slots = Math.max(fewestSlots, 2 ** Math.ceil(Math.log2(4 * taken + 1)));
    const bytes = Buffer.alloc(slots * slotLength);
    for (const slot of filled) {
      let at = firstSlot(slot, slots);
      while (!isEmpty(bytes.subarray(at * slotLength, (at + 1) * slotLength)))
        at = (at + 1) % slots;
      slot.copy(bytes, at * slotLength);
    }
    const temporary = `${this.#path}.${id}.tmp`;
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(Buffer.concat([headerOf(id), bytes]));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, this.#path);
    return { id, slots, taken };
  }
}

/** 8 bytes of hash, 6 of the place counted from 1, 2 of a checksum. An empty slot is all zeros. */
type Slot = Buffer;

function headerOf(id: string): Buffer {
  return Buffer.concat([Buffer.from("millrace ids 1\n\n"), Buffer.from(id, "hex")]);
}

function hashOf({ kind, id }: Pick<LookupEntry, "kind" | "id">): Buffer {
  return createHash("sha256").update(`${kind} ${id}`).digest().subarray(0, 8);
}

function slotOf(entry: PlacedEntry): Slot {
  const slot = Buffer.alloc(slotLength);
  hashOf(entry).copy(slot);
  slot.writeUIntLE(entry.at + 1, 8, 6);
  slot.writeUInt16LE(checksumOf(slot), 14);
  return slot;
}

function checksumOf(slot: Slot): number {
  return crc32(slot.subarray(0, 14)) & 0xffff;
}

function isEmpty(slot: Slot): boolean {
  return slot.equals(emptySlot);
}

/** The place in a slot. Throws `LostTableError` if a byte of the slot was changed. */
function placeIn(slot: Slot): number {
  if (slot.length < slotLength || slot.readUInt16LE(14) !== checksumOf(slot)) {
    throw new LostTableError();
  }
  return slot.readUIntLE(8, 6) - 1;
}

function firstSlot(hash: Buffer, slots: number): number {
  return hash.readUInt32LE(0) % slots;
}

function slotsIn(bytes: Buffer): readonly Slot[] {
  const slots: Slot[] = [];
  for (let at = 0; at + slotLength <= bytes.length; at += slotLength) {
    const slot = bytes.subarray(at, at + slotLength);
    if (isEmpty(slot)) continue;
    placeIn(slot);
    slots.push(slot);
  }
  return slots;
}

function findIn(
  read: (at: number, length: number) => Buffer,
  slots: number,
  hash: Buffer,
): readonly number[] {
  const places: number[] = [];
  const start = firstSlot(hash, slots);
  for (let done = 0; done < slots;) {
    const first = (start + done) % slots;
    const count = Math.min(blockSlots, slots - first);
    const block = read(headerLength + first * slotLength, count * slotLength);
    if (block.length < count * slotLength) throw new LostTableError(); // it was cut
    for (let at = 0; at < block.length; at += slotLength) {
      const slot = block.subarray(at, at + slotLength);
      if (isEmpty(slot)) return places.toSorted((left, right) => left - right);
      const place = placeIn(slot);
      if (slot.subarray(0, 8).equals(hash)) places.push(place);
    }
    done += count;
  }
  throw new LostTableError(); // a table is never full
}

/** Adds a slot, unless it is there: an earlier writer may have died before it stated how far it went. */
async function insert(handle: FileHandle, slots: number, slot: Slot): Promise<void> {
  const first = firstSlot(slot, slots);
  for (let tries = 0; tries < slots; tries += 1) {
    const place = headerLength + ((first + tries) % slots) * slotLength;
    const there = await readBlock(handle, place, slotLength);
    if (there.equals(slot)) return;
    if (!isEmpty(there)) {
      placeIn(there);
      continue;
    }
    await handle.write(slot, 0, slotLength, place);
    return;
  }
  throw new LostTableError();
}
