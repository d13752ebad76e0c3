import { textOf } from "@millrace/core";
import { partId } from "@millrace/core/model";
import type { Cause, Json, PartId } from "@millrace/core";
import type { CommitPart, Metadata, PartOpening } from "@millrace/core/writing";
import { ReplyReader, cutEnding } from "@millrace/providers/protocol-kit";
import type {
  ClosePart,
  DeltaSink,
  Halt,
  Operation,
  Reading,
  ReplyEnd,
} from "@millrace/providers/protocol-kit";

/** What closes a part, beyond its streamed content. */
export type Closing = Omit<ClosePart, "op" | "partId">;

/**
 * Writes the parts of one item for a bridge. Uses the reader of the native protocols, so that text
 * is made well-formed and parts are committed by the same code.
 */
export class PartWriter {
  readonly #sink: DeltaSink;
  readonly #reader: ReplyReader<Performed, Halt>;
  #begun = 0;

  constructor(sink: DeltaSink) {
    this.#sink = sink;
    const nothing = { model: "", tools: [], takenCallIds: new Set<string>() };
    this.#reader = new ReplyReader(performing, nothing, sink);
  }

  begin(opening: PartOpening): PartId {
    this.#begun += 1;
    const id = partId(`p${this.#begun}`);
    this.#perform({ op: "begin_part", partId: id, ...opening });
    return id;
  }

  append(id: PartId, chunk: string): void {
    this.#perform({ op: "append_text", partId: id, chunk });
  }

  metadata(id: PartId, metadata: Metadata): void {
    this.#perform({ op: "set_metadata", partId: id, metadata });
  }

  close(id: PartId, closing: Closing = {}): void {
    this.#perform({ op: "close_part", partId: id, ...closing });
  }

  /** Writes a complete part of the framework's own type. */
  custom(name: string, value: Json): void {
    const id = this.begin({ kind: "custom", name });
    this.#perform({ op: "replace_structured", partId: id, value });
    this.close(id);
  }

  bytes(id: PartId, chunk: Uint8Array): void {
    this.#perform({ op: "append_bytes", partId: id, chunk });
  }

  /** Returns the text streamed into an open part. */
  streamed(id: PartId): string {
    const part = this.#sink.draft().parts.find((each) => each.id === id);
    return part?.state === "open" ? textOf(part) : "";
  }

  /**
   * Closes the parts that the framework left open. A call that was not reported complete gets a
   * fault, so that it never runs.
   */
  closeRest(): void {
    for (const part of this.#sink.draft().parts) {
      if (part.state !== "open") continue;
      this.close(
        part.id,
        part.begin.kind === "tool_call" ? { fault: { code: "truncated" } } : undefined,
      );
    }
  }

  /** Ends the item as failed and ignores later writes. The first cause is kept. */
  fail(failure: Cause): void {
    this.#reader.take({ operations: [], failure });
  }

  end(halt: Pick<Halt, "ending" | "usage">): ReplyEnd {
    this.#reader.take({ operations: [], halt: { operations: [], ...halt } });
    return this.#reader.end({ kind: "over" });
  }

  #perform(operation: Operation): void {
    this.#reader.take({ operations: [operation] });
  }
}

interface Performed {
  readonly operations: readonly Exclude<Operation, CommitPart>[];
  readonly halt?: Halt;
  readonly failure?: Cause;
}

/** A protocol whose events are operations. */
const performing: Reading<Performed, Halt> = {
  initial: () => ({ operations: [], ending: cutEnding({ kind: "eof" }) }),
  step: (state, { operations, halt, failure }) => ({
    state: halt ?? state,
    operations,
    ...(failure === undefined ? {} : { failure }),
  }),
  halt: (state, end) =>
    end.kind === "failed" ? { ...state, operations: [], ending: cutEnding(end) } : state,
};
