import { redact } from "@millrace/core/secrets";
import { checkJson, equalJson, parseJson } from "@millrace/core/wire";
import type { Json } from "@millrace/core";
import { describe, readMessage } from "./output-json.ts";
import { capText } from "./output-tail.ts";

/** What a call is answered with: `text` is for the model, `output` for programs. */
export interface ToolOutput {
  readonly text: string;
  readonly output?: Json;
}

/** Longer messages of errors lose their middle. */
const messageBytes = 8 * 1024;
/** How far the causes of an error are followed. */
const maxCauses = 3;

/** What a tool returned, as its result. */
export interface ToolResult extends ToolOutput {
  /** Why JSON can't hold it. Then it is described in the text, and there is no output. */
  readonly problem?: string;
}

/**
 * The result of a tool, from what it returned and what it had streamed. The text always begins
 * with what was streamed. A string that goes on from there is the whole text; all else that is returned
 * is put after it, so that the model gets both. A value is the output as well. Never throws, and keeps
 * no reference to what it is given.
 */
export function resultOf(returned: unknown, streamed: string): ToolResult {
  if (returned === undefined) return { text: streamed };
  if (typeof returned === "string") return ofString(returned.toWellFormed(), streamed);
  const { json, problem = faultOf(json) } = describe(returned);
  const text = typeof json === "string" ? json : JSON.stringify(json);
  if (problem !== undefined) return { text: joined(streamed, text), problem };
  return { text: holds(streamed, json) ? streamed : joined(streamed, text), output: json };
}

/** Keys that could reach a prototype, or more of them than are stored. */
function faultOf(json: Json): string | undefined {
  const fault = checkJson(json);
  return (
    fault && `${fault.code.replaceAll("_", " ")}${fault.key === undefined ? "" : ` ${fault.key}`}`
  );
}

/** Some tools also write what they return, as MCP asks of its servers. The model needs it once. */
function holds(streamed: string, json: Json): boolean {
  const parsed = streamed === "" ? undefined : parseJson(streamed);
  return parsed?.ok === true && equalJson(parsed.value, json);
}

function ofString(returned: string, streamed: string): ToolOutput {
  if (returned.startsWith(streamed)) return { text: returned };
  const text = joined(streamed, returned);
  // One that is too large for an output is in the text at least.
  return checkJson(returned) === undefined ? { text, output: returned } : { text };
}

/** One text after another, on a line of its own. */
export function joined(before: string, after: string): string {
  if (before === "" || after === "") return before + after;
  return before.endsWith("\n") ? before + after : `${before}\n${after}`;
}

/**
 * What a tool, hook or schema threw, for the model: the message with those of its causes, never a
 * stack, and without secrets. Bounded and well-formed. Never throws.
 */
export function messageOf(thrown: unknown): string {
  const messages = [oneMessage(thrown)];
  let cause = causeOf(thrown);
  for (let level = 0; level < maxCauses && cause !== undefined; level += 1) {
    const message = oneMessage(cause);
    if (!messages.includes(message)) messages.push(message);
    cause = causeOf(cause);
  }
  return capText(redact(messages.join(": ").toWellFormed()), messageBytes);
}

function oneMessage(thrown: unknown): string {
  const message = readMessage(thrown);
  // Plain data was thrown: its fields are more useful than its name.
  return message === "[object Object]" ? resultOf(thrown, "").text : message;
}

function causeOf(thrown: unknown): unknown {
  try {
    return thrown instanceof Error ? thrown.cause : undefined;
  } catch {
    return undefined; // a getter of its own; the message alone has to do
  }
}
