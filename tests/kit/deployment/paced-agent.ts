import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, Tool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import type { Item, Model } from "@millrace/core";
import { z } from "zod";
import { parseDirective, textOfDirective } from "./directive.ts";

export interface PacedAgentOptions {
  /** The node's name. It is the model's too, so that a viewer shows which node writes. */
  readonly name: string;
  /** A file to which tools append a line for each effect. */
  readonly effects: string;
  /** A file to which the model appends a line for each request, if it is given. */
  readonly requests?: string | undefined;
  /** The pause before each chunk of a reply. */
  readonly chunkMs: number;
  readonly approvalTimeoutMs?: number | undefined;
  readonly limitSeconds?: number | undefined;
  /** Called right after an effect. */
  readonly onEffect?: ((effect: Effect) => void) | undefined;
}

/** A line of the file of effects. */
export interface Effect {
  readonly tool: string;
  readonly effectKey: string;
  readonly node: string;
}

/** An agent whose model replies by its transcript alone, and whose tools leave a trace outside, with more tools. */
export function pacedAgent(options: PacedAgentOptions, more: readonly Tool[] = []): Agent {
  const { name, effects, approvalTimeoutMs, limitSeconds, onEffect } = options;
  const leave = (tool: string, effectKey: string): void => {
    const effect: Effect = { tool, effectKey, node: name };
    appendFileSync(effects, `${JSON.stringify(effect)}\n`);
    onEffect?.(effect);
  };
  const input = z.object({ key: z.string() });
  const tool = (
    named: "pay" | "dare" | "look" | "again",
    effect: "pure" | "idempotent" | "effectful",
  ) =>
    defineTool({
      name: named,
      input,
      effect,
      approve: named === "dare" ? "ask" : "allow",
      run: async ({ key }, { effectKey, append }) => {
        append("before ");
        await sleep(Math.random() * 150);
        if (effect !== "pure") leave(named, effectKey);
        append("after ");
        await sleep(Math.random() * 200);
        return `${named} ${key}`;
      },
    });
  return defineAgent({
    model: pacedModel(options),
    tools: [
      tool("pay", "effectful"),
      tool("dare", "effectful"),
      tool("look", "pure"),
      tool("again", "idempotent"),
      ...more,
    ],
    // Tests end nodes as they like, and a run may be unlucky for long: it is not what ends them.
    limits: {
      repeats: 100,
      lost: 10_000,
      ...(limitSeconds !== undefined && { seconds: limitSeconds }),
    },
    ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
  });
}

/** A model that replies by its transcript alone, at a pace. */
export function pacedModel({ name, requests, chunkMs }: PacedAgentOptions): Model {
  return {
    id: modelOf(name),
    stream: (request) => {
      if (requests !== undefined) appendFileSync(requests, `${name}\n`);
      return scriptedModel([replyTo(request.transcript)], {
        id: modelOf(name),
        delayMs: chunkMs,
        chunk: [4, 1, 7, 2],
      }).stream(request);
    },
  };
}

/** The id of a node's model. */
export function modelOf(name: string): string {
  return `paced/${name}`;
}

/** The text with a sum of it: a text that lost or doubled a character no longer agrees with its sum. */
export function sealed(body: string): string {
  return `${body}|${sumOf(body)}`;
}

/** Whether a text agrees with its own sum. */
export function isSealed(text: string): boolean {
  const at = text.lastIndexOf("|");
  return at >= 0 && sumOf(text.slice(0, at)) === text.slice(at + 1);
}

function sumOf(body: string): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 8);
}

/** The reply to a transcript: calls if its last input asks for some, else a text. */
function replyTo(transcript: readonly Item[]): readonly ScriptedPart[] {
  const last = transcript.findLastIndex(({ author }) => author === "user");
  const asked = parseDirective(textOfItem(transcript[last]));
  if (asked === undefined) return [say(sealed("nothing was asked"))];
  const { key, mode, length } = asked;
  const isAnswered = transcript.slice(last).some(({ author }) => author === "tool");
  if (mode === "plain" || isAnswered)
    return [say(sealed(`answer to ${key}, item ${transcript.length} ${filler(length)}`))];
  const opening = say(sealed(`calls for ${key} ${filler(Math.min(length, 40))}`));
  if (mode === "effect") return [opening, call("pay", { key })];
  if (mode === "ask") return [opening, call("dare", { key })];
  if (mode === "child") return [opening, call("child", { key })];
  if (mode === "delegate")
    return [opening, call("helper", { prompt: textOfDirective({ key, mode: "plain", length }) })];
  if (mode === "long") return [{ usage: fullContext }, opening, call("look", { key })];
  const calls = [call("pay", { key: `${key}a` }), call("pay", { key: `${key}b` })];
  return [opening, ...calls, call("look", { key }), call("again", { key })];
}

/** What a reply reports after which a limited context is compacted. */
const fullContext = { inputTokens: 90_000, outputTokens: 10, cachedTokens: 0 };

/** Text with characters of one to four bytes, and with pairs that no cut may split. */
export function filler(length: number): string {
  const unit = "The race turns the wheel – Mühle, 水車, 🌊🪵é. ";
  return unit
    .repeat(Math.ceil(length / unit.length))
    .slice(0, length)
    .toWellFormed();
}

/** The texts of an item, joined. */
export function textOfItem(item: Item | undefined): string {
  return (item?.parts ?? []).map((part) => (part.kind === "text" ? part.text : "")).join("");
}
