import { partId } from "@millrace/core/model";
import type { Cause, Json, PartId } from "@millrace/core";
import type { Metadata, PartOpening } from "@millrace/core/writing";
import type { Operation } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import type { FailureCode } from "../../failure.ts";
import type { ReplyState, Writing } from "./state.ts";

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** The part limit of the fold. */
const maxParts = 1_000;

/** The work on one event: a mutable copy of the state, and the operations so far. */
export class Work {
  readonly operations: Operation[] = [];
  readonly reply: Mutable<ReplyState>;
  readonly #given: ReplyState;
  #failure: Cause | undefined;

  constructor(reply: ReplyState) {
    this.#given = reply;
    this.reply = { ...reply };
  }

  get failure(): Cause | undefined {
    return this.#failure;
  }

  /** The new state, or the given one if nothing changed. */
  get result(): ReplyState {
    const keys = Object.keys(this.reply) as (keyof ReplyState)[];
    const same = keys.every((key) => this.reply[key] === this.#given[key]);
    return same ? this.#given : this.reply;
  }

  fail(code: FailureCode, message: string, evidence?: Json): void {
    this.#failure ??= failure(code, message, evidence);
  }

  /** Adds an operation. Ignored after a failure. */
  push(operation: Operation): void {
    if (this.#failure === undefined) this.operations.push(operation);
  }

  /** Begins a part. Ends the part before it and releases the held calls, which are complete. */
  begin(opening: PartOpening): PartId {
    this.endWriting();
    this.#release();
    if (this.reply.parts >= maxParts) {
      this.fail("too_many_parts", `a reply has at most ${maxParts} parts`);
    }
    this.reply.parts += 1;
    const id = partId(`p${this.reply.parts}`);
    this.push({ op: "begin_part", partId: id, ...opening });
    return id;
  }

  /** Appends text or thoughts to the current part, or begins one. */
  append(kind: "text" | "reasoning", chunk: string): PartId {
    const { writing } = this.reply;
    const id = writing?.kind === kind ? writing.id : this.#beginText(kind);
    if (chunk !== "") this.push({ op: "append_text", partId: id, chunk });
    return id;
  }

  /** Ends the current part. Text stays open for notes at the end. */
  endWriting(): void {
    const { writing } = this.reply;
    if (writing === undefined) return;
    this.reply.writing = undefined;
    if (writing.kind !== "text") this.push({ op: "close_part", partId: writing.id });
  }

  /** Closes the newest text with its metadata. */
  closeText(metadata: Metadata = {}): void {
    const { text } = this.reply;
    if (text === undefined) return;
    if (Object.keys(metadata).length > 0) {
      this.push({ op: "set_metadata", partId: text.id, metadata });
    }
    this.push({ op: "close_part", partId: text.id });
    this.reply.text = undefined;
  }

  #beginText(kind: "text" | "reasoning"): PartId {
    this.endWriting();
    if (kind === "text") this.closeText();
    const id = this.begin({ kind });
    this.reply.writing = { kind, id } satisfies Writing;
    if (kind === "text") this.reply.text = { id, signature: undefined };
    return id;
  }

  /** Closes the held calls: the model continued after them, so they were not cut off. */
  #release(): void {
    const { held } = this.reply;
    if (held.every(({ empty }) => empty)) return;
    for (const { close, empty } of held) if (!empty) this.push(close);
    this.reply.held = held.filter(({ empty }) => empty);
  }
}
