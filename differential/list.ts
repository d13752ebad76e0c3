import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Difference } from "./compare.ts";

/** Which reader is right. `both`: the results mean the same, or each is a choice that users can see. */
export type Who = "ours" | "both" | "theirs";

/** Why readers differ. One reason may explain many differences. */
export interface Reason {
  readonly who: Who;
  readonly why: string;
  /** Where that is written: documentation, a specification, source, or the other reader's message. */
  readonly evidence: string;
}

/** A difference that is known, with the name of its reason. */
export interface Row extends Difference {
  readonly reason: string;
}

/**
 * `differences.jsonl` holds what stays: we are right, or both are. `defects.jsonl` holds the rows in
 * which the other reader is right. Each of those is a defect to mend: at a release it is empty.
 */
export type ListFile = "differences.jsonl" | "defects.jsonl";

export function readReasons(): Readonly<Record<string, Reason>> {
  return JSON.parse(readFileSync(pathOf("reasons.json"), "utf8")) as Record<string, Reason>;
}

export function readRows(file: ListFile): readonly Row[] {
  const lines = readFileSync(pathOf(file), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Row);
}

export function writeRows(file: ListFile, rows: readonly Row[]): void {
  writeFileSync(pathOf(file), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/** The same field of the same stream, whatever the values are. */
export function placeOf({ stream, contender, field }: Difference): string {
  return `${stream} ${contender} ${field}`;
}

/** All that is wrong with the lists: what they lack, what no longer occurs, what has no reason. */
export function faultsOf(
  found: readonly Difference[],
  rows: Readonly<Record<ListFile, readonly Row[]>>,
  reasons: Readonly<Record<string, Reason>>,
): readonly string[] {
  const all = Object.values(rows).flat();
  const listed = new Set(all.map(valueOf));
  const occurring = new Set(found.map(valueOf));
  const used = new Set(all.map(({ reason }) => reason));
  const wrongFile = Object.entries(rows).flatMap(([file, inFile]) =>
    inFile.filter(({ reason }) => {
      const who = reasons[reason]?.who;
      return who !== undefined && (who === "theirs") !== (file === "defects.jsonl");
    }),
  );
  return [
    ...found.filter((difference) => !listed.has(valueOf(difference))).map(fault("not listed")),
    ...all.filter((row) => !occurring.has(valueOf(row))).map(fault("listed, no longer occurs")),
    ...all.filter(({ reason }) => reasons[reason] === undefined).map(fault("has no known reason")),
    ...wrongFile.map(fault("is in the other list's file")),
    ...repeated(all.map(placeOf)).map((place) => `listed twice: ${place}`),
    ...Object.keys(reasons)
      .filter((name) => !used.has(name))
      .map((name) => `reason without a difference: ${name}`),
  ];
}

function valueOf(difference: Difference): string {
  return JSON.stringify([placeOf(difference), difference.ours, difference.theirs]);
}

function fault(what: string): (row: Difference) => string {
  return (row) => `${what}: ${JSON.stringify(row)}`;
}

function repeated(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size);
}

/**
 * The rows that occur, each with the reason that it had. A new one has the reason `unjudged`, which no
 * list accepts: a person gives it one.
 */
export function renewed(
  found: readonly Difference[],
  rows: Readonly<Record<ListFile, readonly Row[]>>,
): Readonly<Record<ListFile, readonly Row[]>> {
  const reasonIn = (file: ListFile): ReadonlyMap<string, string> =>
    new Map(rows[file].map((row) => [placeOf(row), row.reason]));
  const defects = reasonIn("defects.jsonl");
  const known = reasonIn("differences.jsonl");
  return {
    "defects.jsonl": found.flatMap((row) => {
      const reason = defects.get(placeOf(row));
      return reason === undefined ? [] : [{ ...row, reason }];
    }),
    "differences.jsonl": found
      .filter((row) => !defects.has(placeOf(row)))
      .map((row) => ({ ...row, reason: known.get(placeOf(row)) ?? "unjudged" })),
  };
}
