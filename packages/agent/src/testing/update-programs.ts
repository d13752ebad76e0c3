import { emptyDraft, fold } from "@millrace/core";
import { callId, commitOf, fillOf, partId } from "@millrace/core/writing";
import type { Delta, Draft, PartId } from "@millrace/core";
import type { BeginPart, Update } from "@millrace/core/writing";
import fc from "fast-check";

/** An update, and whether the stored items are the same without it. */
export interface Step {
  readonly update: Update;
  readonly optional: boolean;
}

const kinds = ["text", "structured", "reasoning", "tool_call", "tool_result", "media"] as const;
const chunks = ["a", "", "é", "😀", '{"q":', "1}", "\n\n"] as const;

/** One choice: the part, the operation, and its value. */
const choice = fc.record({
  part: fc.nat(3),
  action: fc.constantFrom("fill", "fill", "fill", "annotate", "commit", "end"),
  value: fc.nat(99),
});

/** Legal updates with all begins and commits. Each is marked if the items are the same without it. */
export const writtenOut: fc.Arbitrary<readonly Step[]> = fc
  .record({
    choices: fc.array(choice, { minLength: 1, maxLength: 24 }),
    kinds: fc.array(fc.constantFrom(...kinds), { minLength: 4, maxLength: 4 }),
  })
  .map(({ choices, kinds: partKinds }) => {
    const program = new Program();
    for (const { part, action, value } of choices) {
      const id = partId(`p${part}`);
      if (action === "end") program.endItem(value % 2 === 0 ? "end" : "length");
      else if (action === "commit") program.commit(id);
      else if (action === "annotate") program.annotate(id, partKinds[part] ?? "text", value);
      else program.fill(id, partKinds[part] ?? "text", value);
    }
    return program.finish();
  });

type Kind = (typeof kinds)[number];

class Program {
  readonly #steps: Step[] = [];
  #draft: Draft = emptyDraft();

  fill(id: PartId, kind: Kind, value: number): void {
    const fill = fillOf[kind];
    if (fill === "text")
      this.#change(id, kind, {
        op: "append_text",
        partId: id,
        chunk: chunks[value % chunks.length] ?? "",
      });
    else if (fill === "bytes")
      this.#change(id, kind, { op: "append_bytes", partId: id, chunk: Uint8Array.of(value) });
    else this.#change(id, kind, { op: "replace_structured", partId: id, value });
  }

  annotate(id: PartId, kind: Kind, value: number): void {
    this.#change(id, kind, { op: "set_metadata", partId: id, metadata: { value } });
  }

  /** Commits a part. A call with incomplete arguments needs this, because left open it fails its item. */
  commit(id: PartId): void {
    const commit = commitOf(this.#draft, id);
    if (commit?.op !== "commit_part") return;
    this.#add(commit, !(commit.part.kind === "tool_call" && commit.part.fault !== undefined));
  }

  endItem(stop: "end" | "length", optional = false): void {
    for (const { id } of this.#draft.parts) this.commit(id);
    this.#steps.push({ update: { op: "commit_item", stop }, optional });
    this.#draft = emptyDraft();
  }

  finish(): readonly Step[] {
    if (this.#draft.parts.length > 0) this.endItem("end", true);
    return this.#steps;
  }

  #change(id: PartId, kind: Kind, delta: Delta): void {
    const part = this.#draft.parts.find((known) => known.id === id);
    if (part?.state === "committed") return;
    if (part === undefined) {
      const implied =
        (kind === "text" && delta.op !== "append_bytes") ||
        (kind === "structured" && delta.op === "replace_structured");
      this.#add(beginningOf(id, kind), implied);
    }
    this.#add(delta, false);
  }

  #add(delta: Delta, optional: boolean): void {
    this.#draft = fold(this.#draft, delta);
    if (this.#draft.fault !== undefined) throw new Error(this.#draft.fault.message);
    this.#steps.push({ update: delta, optional });
  }
}

function beginningOf(id: PartId, kind: Kind): BeginPart {
  const base = { op: "begin_part", partId: id } as const;
  if (kind === "tool_call" || kind === "tool_result")
    return { ...base, kind, callId: callId(`call-${id}`), tool: "search" };
  return kind === "media" ? { ...base, kind, mediaType: "image/png" } : { ...base, kind };
}
