import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, Part, ToolCallPart } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { Random } from "../../../../../tests/kit/random.ts";
import { drawAttachment } from "./attachments.ts";
import { Marks } from "./marks.ts";
import type { Mark } from "./marks.ts";
import { drawTools } from "./tools.ts";

/** Models that may have written an item. Some transcripts change from one to the other. */
const models = [
  "openai-chat/gpt-5",
  "openai-responses/gpt-5",
  "anthropic-messages/claude-sonnet-4-5",
  "gemini/gemini-3-pro-preview",
];

/**
 * Generates a request with a legal transcript and a mark in everything that was given: texts, files,
 * calls, results, instructions and tools. The same seed gives the same request.
 */
export function markedRequest(seed: number): {
  readonly request: ModelRequest;
  readonly marks: readonly Mark[];
} {
  const random = new Random(seed);
  const marks = new Marks(seed);
  const writer = new MarkedWriter(random, marks);
  const request: ModelRequest = {
    transcript: writer.write(),
    instructions: marks.make("the instructions"),
    tools: drawTools(random, marks),
  };
  return { request, marks: marks.all };
}

class MarkedWriter {
  readonly #random: Random;
  readonly #marks: Marks;
  readonly #items: Item[] = [];
  #parts = 0;

  constructor(random: Random, marks: Marks) {
    this.#random = random;
    this.#marks = marks;
  }

  write(): readonly Item[] {
    for (let turn = this.#random.below(3); turn >= 0; turn -= 1) {
      this.#add(
        "user",
        this.#some(() => this.#userPart()),
      );
      if (this.#random.chance(0.7)) this.#modelTurn();
    }
    return this.#items;
  }

  #add(author: Item["author"], parts: readonly Part[], model?: string): void {
    const id = itemId(`i${this.#items.length + 1}`);
    const written = model === undefined ? {} : { model };
    this.#items.push({ id, author, parts, stop: "end", ...written });
  }

  #some(draw: () => Part): readonly Part[] {
    return Array.from({ length: 1 + this.#random.below(4) }, draw);
  }

  #text(where: string): Part {
    this.#parts += 1;
    return { kind: "text", id: partId(`t${this.#parts}`), text: this.#marks.make(where) };
  }

  #userPart(): Part {
    const draw = this.#random.next();
    if (draw < 0.3) return this.#text("a text of the user");
    if (draw < 0.85) return drawAttachment(this.#random, this.#marks);
    this.#parts += 1;
    const id = partId(`s${this.#parts}`);
    const value = { note: this.#marks.make("a value of the user") };
    return this.#random.pick<Part>([
      { kind: "structured", id, value },
      { kind: "custom", id, name: "note", value },
      { kind: "opaque", id, original: { kind: "later", id, ...value } },
    ]);
  }

  #modelTurn(): void {
    const calls = Array.from({ length: this.#random.below(3) }, () => this.#call());
    const parts = [
      this.#text("a text of the model"),
      ...(this.#random.chance(0.2) ? [drawAttachment(this.#random, this.#marks)] : []),
      ...calls,
    ];
    const isAgent = this.#random.chance(0.15);
    this.#add(isAgent ? "agent" : "model", parts, isAgent ? undefined : this.#random.pick(models));
    for (const call of calls) this.#add("tool", this.#answer(call));
    if (calls.length > 0 || this.#random.chance(0.5)) {
      this.#add("model", [this.#text("the model's answer")], this.#random.pick(models));
    }
  }

  #call(): ToolCallPart {
    this.#parts += 1;
    const input = { at: this.#marks.make("the arguments of a call") };
    return {
      kind: "tool_call",
      id: partId(`c${this.#parts}`),
      callId: callId(`call_${this.#parts}`),
      tool: this.#random.pick(["look", "fs.read", "fs_read", "3d_render", "gone/tool", "日本"]),
      raw: JSON.stringify(input),
      input,
    };
  }

  #answer({ callId: id, tool }: ToolCallPart): readonly Part[] {
    this.#parts += 1;
    const mark = this.#marks.make("the result of a call");
    const base = { kind: "tool_result", id: partId(`r${this.#parts}`), callId: id, tool } as const;
    const result = this.#random.pick<Part>([
      { ...base, status: "ok", text: mark },
      { ...base, status: "ok", text: "", output: { deep: [mark] } },
      { ...base, status: "failed", text: mark },
    ]);
    const made = this.#random.chance(0.4) ? this.#some(() => this.#userPart()) : [];
    return [result, ...made];
  }
}
