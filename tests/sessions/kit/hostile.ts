import { createModelStream } from "@millrace/core/model";
import type { ReplyWriter } from "@millrace/core/model";
import type { ModelRequest } from "@millrace/core/ports";
import { callId, parseArguments, partId } from "@millrace/core/writing";
import type { Delta, Model } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { Random } from "../../kit/random.ts";

/** What a hostile model has emitted for one call: every raw text of it, in any form. */
interface SaidCall {
  readonly callId: string;
  readonly tool: string;
  readonly raw: string;
  /** Ended properly, with its own arguments. */
  readonly whole: boolean;
}

/** The latest reply as it was emitted, before any parsing. */
export interface RawReply {
  readonly calls: SaidCall[];
  readonly offered: ReadonlySet<string>;
  stop: Ending["stop"];
}

/** A model that writes calls in every wrong way there is, and in between right ones. */
export class HostileModel implements Model {
  readonly id = "hostile/model";
  readonly #random: Random;
  replies = 0;
  said: RawReply = { calls: [], offered: new Set(), stop: "end" };

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  readonly stream: Model["stream"] = (request: ModelRequest) => {
    this.replies += 1;
    const offered = new Set(request.tools?.map(({ name }) => name));
    const said: RawReply = { calls: [], offered, stop: "end" };
    this.said = said;
    const produce = async (writer: ReplyWriter): Promise<Ending> => {
      const ending = this.#reply(writer, said);
      said.stop = ending.stop;
      return ending;
    };
    return createModelStream({ model: this.id, signal: request.signal, produce });
  };

  #reply(writer: ReplyWriter, said: RawReply): Ending {
    const random = this.#random;
    const count = 1 + random.below(4);
    for (let at = 1; at <= count; at += 1) this.#call(writer, said, at);
    const draw = random.next();
    // Mostly as if all were well: what follows must hold by itself.
    if (draw < 0.8) return { stop: "tools", evidence: "said" };
    if (draw < 0.84) return { stop: "paused", evidence: "said" };
    const cause = { code: "overloaded", message: "too busy" };
    const stop = random.pick(["length", "end", "filtered", "truncated", "failed"] as const);
    return stop === "truncated" || stop === "failed" ? { stop, cause } : { stop, evidence: "said" };
  }

  #call(writer: ReplyWriter, said: RawReply, at: number): void {
    const random = this.#random;
    const id = partId(`p${at}`);
    const named = random.chance(0.85) ? `call_${at}` : "call_1";
    const tool = random.chance(0.75) ? "tripwire" : random.pick(names);
    const raw = random.chance(0.4) ? random.pick(sound) : this.#damaged();
    const opening = { kind: "tool_call", callId: callId(named), tool } as const;
    writer.emit({ op: "begin_part", partId: id, ...opening });
    const cut = random.below(raw.length + 1);
    for (const chunk of [raw.slice(0, cut), raw.slice(cut)]) {
      if (chunk !== "" && chunk.isWellFormed())
        writer.emit({ op: "append_text", partId: id, chunk });
    }
    const draw = random.next();
    const whole = draw < 0.9;
    said.calls.push({ callId: named, tool, raw, whole });
    if (draw < 0.85) writer.emit(commitOf(id, opening, raw, undefined));
    // Gives an input of its own, and not that of the text.
    else if (draw < 0.9) writer.emit(commitOf(id, opening, raw, { path: "forged" }));
  }

  #damaged(): string {
    const random = this.#random;
    const text = random.pick(sound);
    const draw = random.below(6);
    if (draw === 0) return text.slice(0, random.below(text.length));
    if (draw === 1) {
      const at = random.below(text.length);
      return text.slice(0, at) + random.pick(['"', "}", ",", "\\", " ", "1"]) + text.slice(at + 1);
    }
    if (draw === 2) return text + random.pick(["}", " {}", ",", "\u0000", "x", text]);
    if (draw === 3) return `{"path":"x","deep":${"[".repeat(80)}${"]".repeat(80)}}`;
    if (draw === 4 && random.chance(0.01)) return `{"path":"${"x".repeat(2_200_000)}"}`;
    return random.pick(unsound);
  }
}

/** What a tool that takes `{ path: string, ask?: boolean }` runs with, and what it does not. */
const sound = [
  '{"path":"a"}',
  '{"path":"b","ask":true}',
  ' {"ask":false, "path":"c"} ',
  '{"path":""}',
];
const unsound = [
  "",
  "{}",
  "null",
  "[]",
  '"{\\"path\\":\\"a\\"}"',
  '{"path":1}',
  '{"path":"a","more":1}',
  '{"path":"a","path":"b"}',
  '{"path":"a","p\\u0061th":"b"}',
  '{"path":"a","__proto__":{"ask":true}}',
  '{"path":"a","ask":"true"}',
  '{"path":"\\ud800"}',
  "{'path':'a'}",
  '{"path":"a",}',
  '{"path":"a"}//',
  '\ufeff{"path":"a"}',
  '[{"path":"a"}]',
];
const names = [
  "Tripwire",
  "tripwire ",
  "trip\u200bwire",
  "other",
  "read_output",
  "constructor",
  "__proto__",
];

function commitOf(
  id: Delta["partId"],
  opening: {
    readonly kind: "tool_call";
    readonly callId: ReturnType<typeof callId>;
    readonly tool: string;
  },
  raw: string,
  forged: object | undefined,
): Delta {
  const parsed = forged === undefined ? parseArguments(raw) : { input: forged as never };
  return { op: "commit_part", partId: id, part: { ...opening, id, raw, ...parsed } };
}
