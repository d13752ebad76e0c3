import { wholeText } from "@millrace/core/writing";
import { capText, createTail } from "./output-tail.ts";
import type { ToolOutput } from "./output.ts";
import { resultOf } from "./output.ts";
import type { ToolExecution } from "../definition/tool.ts";

/** What a tool streams, from its first text until it is settled. All functions are bound. */
export interface Streamed extends Pick<ToolExecution, "append" | "progress"> {
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

  return { append, progress, close, complete };
}

/** A tool without types may give anything: its description is better than a fault. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : resultOf(value, "").text;
}
