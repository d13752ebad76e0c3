import { holdsItem } from "@millrace/core/store-kit";
import type { Fact } from "@millrace/core";
import { writeBase } from "./base.ts";
import type { Base } from "./base.ts";
import { tablePath } from "./earlier.ts";
import { IdTable } from "./id-table.ts";
import type { PlacedEntry, TableRef } from "./id-table.ts";
import { Places } from "./places.ts";
import type { Place } from "./places.ts";
import type { Reading } from "./reading.ts";

/** Facts between two marks, at least. Reading a range scans so many at most before it finds its first. */
const factsPerMark = 256;

/** A base is written once so many facts have come since the last one: opening reads those. */
export const factsPerBase = 32;

/** What a line holds that can be looked up. */
export interface NotedLine {
  readonly facts: readonly Fact[];
  readonly key?: string | undefined;
  readonly by?: string | undefined;
}

/** What a writer has decided to write: the last line, and when all of it is on the disk. */
export interface WriterState {
  readonly lines: number;
  readonly end: number;
  readonly hash: string;
  readonly settled: Promise<void>;
  readonly isHeld: () => boolean;
}

/**
 * Keeps the base of a session up to date for its one writer. Each time costs what was written since the
 * last time, except that the table of ids is made anew when it is half full, and after a reset.
 */
export class BaseKeeper {
  readonly #path: string;
  readonly #perBase: number;
  readonly #reading: Reading;
  readonly #marks: Places;
  /** How many of the reading's places were looked at for marks. */
  #seen = 0;
  #head: number;
  #table: TableRef | undefined;
  /** What is not in the table yet. Undefined: all that can be looked up in memory. */
  #added: PlacedEntry[] | undefined;

  constructor(path: string, reading: Reading, perBase: number) {
    const base = reading.stored?.base;
    this.#path = path;
    this.#perBase = perBase;
    this.#reading = reading;
    this.#marks = Places.of(base?.marks.toArray() ?? []);
    this.#head = base?.row.head ?? 0;
    this.#table = reading.stored?.ref;
  }

  /** Notes what a line holds that the writer has decided to write. */
  note(at: number, { facts, key, by }: NotedLine): void {
    if (facts.some((fact) => fact.type === "session_claimed" && fact.to !== undefined)) {
      [this.#table, this.#added] = [undefined, undefined]; // undone items are looked up no more
      return;
    }
    if (this.#added === undefined) return;
    if (key !== undefined && facts.length > 0) this.#added.push({ kind: "key", id: key, at });
    if (by !== undefined && facts.length > 0) this.#added.push({ kind: "by", id: by, at });
    for (const fact of facts) {
      if (holdsItem(fact)) this.#added.push({ kind: "item", id: fact.item.id, at });
      if (fact.type === "input_accepted") this.#added.push({ kind: "input", id: fact.inputId, at });
    }
  }

  /**
   * Writes the base of what the writer has decided so far, once that is on the disk. A base is a cache: if
   * it can't be written, the one before stays. One call at a time.
   */
  async keep({ settled, isHeld, ...written }: WriterState): Promise<void> {
    const { ledger } = this.#reading;
    if (ledger.head < this.#head + this.#perBase) return;
    const base = this.#baseOf(written);
    const added = this.#added ?? this.#lookups();
    const before = this.#table;
    this.#added = [];
    const isSame = (): boolean => this.#added !== undefined && this.#table === before;
    try {
      await settled;
      if (!isHeld()) return;
      const table = await new IdTable(tablePath(this.#path)).add(before, added);
      if (this.#reading.stored !== undefined) this.#reading.stored.ref = table;
      if (!isSame()) return; // a reset has come meanwhile
      this.#table = table;
      await writeBase(this.#path, { ...base, table });
      this.#head = base.row.head;
    } catch {
      if (!isSame()) return;
      // With all facts in memory the table is made anew; else what was not added is kept for later.
      const rest = [...added, ...(this.#added ?? [])];
      this.#added = ledger.isWhole ? undefined : rest;
      if (ledger.isWhole) this.#table = undefined;
    }
  }

  #baseOf({ lines, end, hash }: Pick<WriterState, "lines" | "end" | "hash">): Omit<Base, "table"> {
    const { ledger, header, places, kept } = this.#reading;
    for (; this.#seen < places.count; this.#seen += 1) {
      const place = places.at(this.#seen);
      const last = this.#marks.find(place.head);
      if (last === undefined || place.head >= last.head + factsPerMark) this.#marks.add(place);
    }
    const { queue, approvals } = ledger.state;
    const { row, resets } = ledger;
    return {
      uid: header.uid,
      lines,
      end,
      hash,
      row,
      ...kept,
      open: { queue, approvals },
      resets: [...resets],
      marks: Places.of(this.#marks.toArray()),
    };
  }

  #lookups(): PlacedEntry[] {
    const { ledger, places } = this.#reading;
    return [...ledger.lookups()].map(({ kind, id, n }) => {
      const { at } = places.find(n - 1) as Place; // every fact in memory has a line
      return { kind, id, at };
    });
  }
}
