// Observers are called inline, with each delta as the provider made it, so they must be fast. They may
// write, count, collect, or send to a channel; what takes longer belongs behind `queuedObserver`.
import { queuedObserver } from "@millrace/agent";
import type { Observer, QueuedObserver } from "@millrace/agent";
import type { Delta } from "@millrace/core";

/** Writes each chunk of text at once, and reasoning in brackets: its kind is known when it begins. */
export function stdoutReporter(write: (text: string) => void): Observer {
  const reasoning = new Set<string>();
  const calls = new Set<string>();
  return (event) => {
    if (event.type !== "content_delta") return;
    const { delta } = event;
    if (delta.op === "begin_part" && delta.kind === "reasoning") reasoning.add(delta.partId);
    if (delta.op === "begin_part" && delta.kind === "tool_call") calls.add(delta.partId);
    if (delta.op === "append_text" && !calls.has(delta.partId))
      write(reasoning.has(delta.partId) ? `(${delta.chunk})` : delta.chunk);
    if (delta.op === "commit_part") {
      reasoning.delete(delta.partId);
      calls.delete(delta.partId);
    }
  };
}

/** Collects the deltas of the model, as lines that name parts by the order in which they began. */
export function deltaLog(lines: string[]): Observer {
  let parts: string[] = [];
  return (event) => {
    if (!("lane" in event) || event.lane !== 0) return; // lane 0 is the model's
    if (event.type === "attempt_started") parts = [];
    if (event.type !== "content_delta") return;
    const { delta } = event;
    if (delta.op === "begin_part") parts.push(delta.partId);
    lines.push(`${delta.op} ${parts.indexOf(delta.partId) + 1} ${detailOf(delta)}`.trimEnd());
  };
}

function detailOf(delta: Delta): string {
  if (delta.op === "append_text") return JSON.stringify(delta.chunk);
  if (delta.op === "begin_part") return "tool" in delta ? `tool_call ${delta.tool}` : delta.kind;
  if (delta.op !== "commit_part") return "";
  const { part } = delta;
  if (part.kind === "tool_call") return `${part.tool} ${JSON.stringify(part.input)}`;
  return "text" in part ? JSON.stringify(part.text) : "";
}

/** Hands events to work that takes time, in order, without holding up the run. */
export function channelReporter(insert: (row: string) => Promise<void>): QueuedObserver {
  return queuedObserver(async (event) => {
    if (event.type === "item_committed") await insert(`${event.item.author}: ${event.item.stop}`);
  });
}
