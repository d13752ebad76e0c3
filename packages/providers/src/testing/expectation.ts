import type { Json, Part } from "@millrace/core";
import { isJsonObject } from "@millrace/core/json";
import type { Decoded } from "./decode.ts";

/** Written by hand, to detect a golden that was updated without review. Only named fields count. */
export interface Expectation {
  readonly stop: string;
  /** The code of the cause of a cut reply. */
  readonly code?: string;
  /** The message of that cause. */
  readonly message?: string;
  /** All text parts joined by "|". */
  readonly text?: string;
  readonly reasoning?: string;
  /** Each call as `tool(raw)`, or `tool!fault` for one that can't run. */
  readonly calls?: readonly string[];
  readonly callIds?: readonly string[];
  readonly usage?: Readonly<Record<string, number>>;
  /** What the parts keep for their vendor, of those parts that keep something. */
  readonly opaque?: readonly Json[];
  /** The metadata of the parts that have some. */
  readonly metadata?: readonly Json[];
  /** The kinds of all parts, in order. An open part is `open`. */
  readonly kinds?: readonly string[];
  /** Fields of the ending's evidence. Others may be there. */
  readonly evidence?: Readonly<Record<string, Json>>;
}

/** A reply in the form of an expectation, with the fields that the expectation names. */
export function summaryOf(decoded: Decoded, expected: Expectation): Expectation {
  const all = everyField(decoded, Object.keys(expected.evidence ?? {}));
  const named = Object.keys(expected) as (keyof Expectation)[];
  return Object.fromEntries(named.map((name) => [name, all[name]])) as unknown as Expectation;
}

function everyField(
  { draft, end }: Decoded,
  evidenceNames: readonly string[],
): Required<Expectation> {
  const parts = draft.parts.flatMap((part): readonly Part[] =>
    part.state === "committed" ? [part.part] : [],
  );
  const calls = parts.flatMap((part) => (part.kind === "tool_call" ? [part] : []));
  const evidence = isJsonObject(end.evidence) ? end.evidence : {};
  return {
    stop: end.stop,
    code: end.cause?.code ?? "",
    message: end.cause?.message ?? "",
    text: parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("|"),
    reasoning: parts.flatMap((part) => (part.kind === "reasoning" ? [part.text] : [])).join("|"),
    calls: calls.map(({ tool, raw, fault }) =>
      fault === undefined ? `${tool}(${raw})` : `${tool}!${fault.code}`,
    ),
    callIds: calls.map(({ callId }) => callId),
    usage: { ...end.usage },
    opaque: parts.flatMap((part) =>
      "opaque" in part && part.opaque !== undefined ? [part.opaque] : [],
    ),
    metadata: parts.flatMap((part) =>
      "metadata" in part && part.metadata !== undefined ? [part.metadata] : [],
    ),
    kinds: draft.parts.map((part) => (part.state === "committed" ? part.part.kind : "open")),
    evidence: Object.fromEntries(
      evidenceNames.map((name) => [name, evidence[name] ?? "is missing"]),
    ),
  };
}
