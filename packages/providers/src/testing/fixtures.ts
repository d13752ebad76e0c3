import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** One recorded or hand-written stream of a vendor. */
export interface Scenario {
  /** Its bytes are `fixtures/<protocol>/<name>.sse`, its golden `<name>.deltas.jsonl`. */
  readonly name: string;
  /** The rows of the tables of quirks and bad input that it covers. */
  readonly rows: readonly string[];
  readonly about: string;
  readonly expect: Expectation;
}

/** Written by hand, to detect a golden that was updated without review. */
export interface Expectation {
  readonly stop: string;
  /** The code of the cause of a cut reply. */
  readonly code?: string;
  /** All text parts joined by "|". */
  readonly text?: string;
  readonly reasoning?: string;
  /** Each call as `tool(raw)`, or `tool!fault` for one that can't run. */
  readonly calls?: readonly string[];
  readonly usage?: Readonly<Record<string, number>>;
}

export const fixturesFolder: string = fileURLToPath(new URL("../../fixtures", import.meta.url));

export function scenariosOf(protocol: string): readonly Scenario[] {
  const path = join(fixturesFolder, protocol, "scenarios.json");
  return JSON.parse(readFileSync(path, "utf8")) as readonly Scenario[];
}

export function bytesOf(protocol: string, name: string): Uint8Array {
  return new Uint8Array(readFileSync(join(fixturesFolder, protocol, `${name}.sse`)));
}

export function goldenPath(protocol: string, name: string): string {
  return join(fixturesFolder, protocol, `${name}.deltas.jsonl`);
}
