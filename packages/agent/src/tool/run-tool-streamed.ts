import { wholeText } from "@millrace/core/writing";
import { capText, createTail } from "./output-tail.ts";
import type { ToolOutput } from "./output.ts";
import { resultOf } from "./output.ts";
import type { ToolAttachment, ToolExecution } from "../definition/tool.ts";

/** What a tool streams, from its first text until it is settled. All functions are bound. */
export interface Streamed extends Pick<ToolExecution, "append" | "attach" | "progress"> {
  /** What was attached so far. */
  readonly attached: () => readonly ToolAttachment[];
  /** From now on the tool is not heard any more. May be repeated. */
  readonly close: () => void;
  /** Closes, makes the outcome of all that was streamed, and emits what of its text is new. */
  readonly complete: <Outcome extends ToolOutput>(ending: (streamed: string) => Outcome) => Outcome;
}

export interface StreamedOptions {
  readonly storedBytes: number;
  readonly emit: (text: string) => void;
  readonly report: (message: string) => void;
}

/** Longer messages about how it goes lose their middle. */
const progressBytes = 4 * 1024;

/** Hands on what a tool streams, up to half of what is stored, and keeps the end of the rest. */
export function createStreamed({ storedBytes, emit, report }: StreamedOptions): Streamed {
  const half = Math.floor(storedBytes / 2);
  const tail = createTail(half, storedBytes - half);
  const head: string[] = [];
  let open = true;
  /** Half a character, whose other half may be in the next text. */
  let held = "";

  const take = (text: string): void => {
    const live = tail.push(text.toWellFormed());
    if (live === "") return;
    head.push(live);
    emit(live);
  };

  const append = (text: string): void => {
    if (!open) return;
    const next = wholeText(held, textOf(text));
    held = next.held;
    take(next.text);
  };

  const progress = ({ message }: { readonly message: string }): void => {
    if (open) report(capText(textOf(message).toWellFormed(), progressBytes));
  };

  const attached: ToolAttachment[] = [];
  const attach = (attachment: ToolAttachment): void => {
    if (!open) return;
    const { mediaType, bytes, name } = checkAttachment(attachment, attached.length);
    // A copy: the tool may use its buffer again.
    attached.push({ mediaType, bytes: bytes.slice(), ...(name === undefined ? {} : { name }) });
  };

  const close = (): void => {
    open = false;
  };

  const complete = <Outcome extends ToolOutput>(ending: (streamed: string) => Outcome): Outcome => {
    close();
    take(held);
    held = "";
    const emitted = head.join("");
    const streamed = emitted + tail.end();
    const outcome = ending(streamed);
    // What was streamed is within its bounds; what comes after it has the same for itself.
    const text = streamed + capText(outcome.text.slice(streamed.length), storedBytes);
    if (emitted !== "" && text !== emitted) emit(text.slice(emitted.length));
    return { ...outcome, text };
  };

  return { append, attach, attached: () => attached, progress, close, complete };
}

/** More attachments than a model is shown at once. */
const mostAttachments = 32;

/** Throws inside the tool that attaches what can't be sent, so that the model gets the reason. */
function checkAttachment(given: ToolAttachment, before: number): ToolAttachment {
  if (before >= mostAttachments) {
    throw new RangeError(`a result has at most ${mostAttachments} attachments`);
  }
  const { mediaType, bytes } = given;
  if (!(bytes instanceof Uint8Array) || !/^[\w.+-]+\/[\w.+-]+/.test(mediaType)) {
    throw new TypeError("attach: pass { mediaType, bytes }, such as image/png and a Uint8Array");
  }
  return given;
}

/** A tool without types may give anything: its description is better than a fault. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : resultOf(value, "").text;
}
