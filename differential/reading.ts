/** The common form to which each reader's result is reduced, so that results can be compared. */
export interface Reading {
  /** The reader reported an error or a cut reply. Nothing else of it is compared. */
  readonly failed: boolean;
  /** Refusals included: each reader has another place for them. */
  readonly text: string;
  readonly reasoning: string;
  /** Each call as `tool(arguments)`, with keys in order, or `tool!` if its arguments are unusable. */
  readonly calls: readonly string[];
  /** `end`, `tools`, `length`, `filtered`, `paused`, or the vendor's own word. */
  readonly stop: string;
  /** The total of the input and of the output, `cached` among the input, `reasoning` among the output. */
  readonly usage: Counts | "unknown";
}

export interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
}

export const failedReading: Reading = {
  failed: true,
  text: "",
  reasoning: "",
  calls: [],
  stop: "",
  usage: "unknown",
};

/** Joins the pieces of reasoning. Blank lines are left out: each reader puts others between pieces. */
export function joinReasoning(pieces: readonly string[]): string {
  return pieces.join("").replaceAll("\n\n", "");
}

/** A call whose arguments arrived as text. */
export function callOf(tool: string, text: string): string {
  try {
    return parsedCall(tool, JSON.parse(text));
  } catch {
    return `${tool}!`;
  }
}

/** A call whose arguments are a value. Only an object is usable. */
export function parsedCall(tool: string, input: unknown): string {
  const usable = typeof input === "object" && input !== null && !Array.isArray(input);
  return usable ? `${tool}(${JSON.stringify(inOrder(input))})` : `${tool}!`;
}

function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}

/** Counts that are not there are 0, as in the vendors' own formats; without a total nothing is known. */
export function countsOf(
  input: unknown,
  output: unknown,
  details: { readonly cached?: unknown; readonly reasoning?: unknown },
): Counts | "unknown" {
  if (typeof input !== "number" && typeof output !== "number") return "unknown";
  return {
    input: countOf(input),
    output: countOf(output),
    cached: countOf(details.cached),
    reasoning: countOf(details.reasoning),
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
