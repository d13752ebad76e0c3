import { equalJson, parseJson } from "@millrace/core/json";

/**
 * The progress of a call's argument text. Each character is scanned once. `whole`: one object is
 * complete, and later text is held, because some servers repeat the arguments at the end. `other`:
 * not an object, or later text that is not a copy; all text passes, and the argument parser reports
 * the fault.
 */
export interface Arguments {
  readonly raw: string;
  readonly held: string;
  readonly phase: "before" | "inside" | "string" | "escape" | "whole" | "other";
  readonly depth: number;
}

export const noArguments: Arguments = { raw: "", held: "", phase: "before", depth: 0 };

/** The state for text that is not JSON. */
export const plainArguments: Arguments = { raw: "", held: "", phase: "other", depth: 0 };

/** The arguments with more text, and the part of it to show now. */
export interface Extended {
  readonly arguments: Arguments;
  readonly shown: string;
}

export function extendArguments(before: Arguments, text: string): Extended {
  if (before.phase === "whole") return hold(before, text);
  let phase: Arguments["phase"] = before.phase;
  let { depth } = before;
  let at = 0;
  for (; at < text.length && phase !== "whole" && phase !== "other"; at += 1) {
    const code = text.charCodeAt(at);
    switch (phase) {
      case "string":
        if (code === quote) phase = "inside";
        else if (code === backslash) phase = "escape";
        break;
      case "escape":
        phase = "string";
        break;
      case "inside":
        if (code === quote) phase = "string";
        else if (code === openBrace || code === openBracket) depth += 1;
        else if (code === closeBrace || code === closeBracket) {
          depth -= 1;
          if (depth === 0) phase = "whole";
        }
        break;
      case "before":
        if (code === openBrace) {
          phase = "inside";
          depth = 1;
        } else if (!isSpace(code)) phase = "other";
        break;
      default:
        phase satisfies never;
    }
  }
  if (phase !== "whole") {
    return { arguments: { raw: before.raw + text, held: "", phase, depth }, shown: text };
  }
  const shown = text.slice(0, at);
  const whole = { raw: before.raw + shown, held: "", phase, depth };
  if (at === text.length) return { arguments: whole, shown };
  const rest = hold(whole, text.slice(at));
  return { arguments: rest.arguments, shown: shown + rest.shown };
}

/**
 * Holds text after a complete value, until it is too long to be a copy. White space is shown, since
 * it is never a copy.
 */
function hold(before: Arguments, text: string): Extended {
  const begin = before.held === "" ? text.length - text.trimStart().length : 0;
  const shown = text.slice(0, begin);
  const raw = before.raw + shown;
  const held = before.held + text.slice(begin);
  if (held.length <= raw.length * 2 + 1_024) {
    return { arguments: { raw, held, phase: "whole", depth: 0 }, shown };
  }
  return {
    arguments: { raw: raw + held, held: "", phase: "other", depth: 0 },
    shown: shown + held,
  };
}

/** The text to show when the call ends: empty if the held text repeats the value. */
export function restOfArguments({ raw, held }: Arguments): string {
  if (held === "" || isCopy(raw, held)) return "";
  return held;
}

function isCopy(raw: string, held: string): boolean {
  const copy = held.trim();
  if (copy === raw.trim()) return true;
  const [first, second] = [parseJson(raw), parseJson(copy)];
  return first.ok && second.ok && equalJson(first.value, second.value);
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
