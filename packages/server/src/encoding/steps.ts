import { encodeCursor, encodeStep } from "@millrace/core/wire";
import type { Followed } from "@millrace/core/reading";
import type { Encoding } from "./encoding.ts";
import { FrameCache, wholeData, wholeFrame, wholeLines, whole } from "./whole.ts";

/** Steps that are sent together are one event, up to so many characters: its reader takes it all at once. */
const charactersTogether = 64 * 1_024;

/**
 * Messages relative to the state of a reader that has taken everything before them, so that it is sent
 * each character once. A viewer that is not in step is sent whole messages until it is.
 */
export const steps: Encoding = {
  name: "steps",
  share: () => {
    /** Made while the state before the message is at hand. */
    const last = new LastSteps();
    const mixedLines = (messages: readonly Followed[]): readonly Uint8Array[] => {
      const lines: Uint8Array[] = [];
      let together: Followed[] = [];
      const end = (): void => {
        if (together.length > 0)
          lines.push(Buffer.from(stepText(together, last.of(together) ?? [])));
        together = [];
      };
      for (const followed of messages) {
        if (last.of([followed]) !== undefined) together.push(followed);
        else {
          end();
          lines.push(...wholeLines(followed));
        }
      }
      end();
      return lines;
    };
    /** As one text if all are steps, so that its bytes are made once. */
    const stepFrame = (messages: readonly Followed[]): Uint8Array => {
      const all = last.of(messages);
      return all === undefined
        ? Buffer.concat(mixedLines(messages))
        : Buffer.from(stepText(messages, all));
    };
    const inStep = new FrameCache(stepFrame);
    const whole = new FrameCache(wholeFrame);
    const encoder = {
      encode: (messages: readonly Followed[], isInStep: boolean) =>
        (isInStep ? inStep : whole).of(messages),
    };
    return {
      applied: (before, followed) => {
        const { message } = followed;
        const isStep = before !== undefined && !("closedLanes" in message);
        const step = isStep ? encodeStep(before, message) : undefined;
        if (step === undefined) return wholeData(message).length;
        const data = `data: ${step.replaceAll("\n", "\ndata: ")}\n`;
        last.push(followed, data);
        return Buffer.byteLength(data);
      },
      open: () => encoder,
    };
  },
};

/** Steps as events, each with the cursor after its last step. */
function stepText(messages: readonly Followed[], steps: readonly string[]): string {
  let text = "";
  let together = "";
  for (const [at, step] of steps.entries()) {
    together += step;
    const next = steps[at + 1];
    if (next !== undefined && together.length + next.length <= charactersTogether) continue;
    const { cursor } = messages[at] as Followed; // as many as steps
    text += `id: ${encodeCursor(cursor)}\n${together}\n`;
    together = "";
  }
  return text;
}

/** As many as a viewer may lack before it is ended. A step that is no longer held is sent whole. */
const capacity = 512;
/** They are held beside the messages themselves, so that long ones are few. */
const charactersAtMost = 128 * 1_024;

/**
 * The steps of the last messages of a room, in their order. They are looked for from the newest on, where
 * nearly all viewers are: a map with weak keys would cost more than all else that is done for a message.
 */
export class LastSteps {
  readonly #messages: (Followed | undefined)[] = [];
  readonly #steps: string[] = [];
  #start = 0;
  #end = 0;
  #characters = 0;

  push(message: Followed, step: string): void {
    if (this.#end - this.#start === capacity) this.#drop();
    this.#characters += step.length;
    while (this.#characters > charactersAtMost && this.#start < this.#end) this.#drop();
    const at = this.#end % capacity;
    this.#messages[at] = message;
    this.#steps[at] = step;
    this.#end += 1;
  }

  #drop(): void {
    const at = this.#start % capacity;
    this.#characters -= this.#steps[at]?.length ?? 0;
    this.#messages[at] = undefined;
    this.#steps[at] = "";
    this.#start += 1;
  }

  /** The steps of these messages, or undefined if one of them has none. They mostly follow each other. */
  of(messages: readonly Followed[]): readonly string[] | undefined {
    const steps: string[] = [];
    let index = -1;
    for (const message of messages) {
      index = this.#at(index + 1, message) ? index + 1 : this.#find(message);
      if (index < 0) return undefined;
      steps.push(this.#steps[index % capacity] ?? "");
    }
    return steps;
  }

  #at(index: number, message: Followed): boolean {
    return this.#messages[index % capacity] === message;
  }

  #find(message: Followed): number {
    for (let index = this.#end - 1; index >= this.#start; index -= 1)
      if (this.#at(index, message)) return index;
    return -1;
  }
}

/** The forms of messages that a reader can ask for. */
export type Form = "steps" | "whole";

const forms: Readonly<Record<Form, Encoding>> = { steps, whole };

/** The encoding of a form. `steps` if left out. */
export function encodingOf(form: Form | Encoding = "steps"): Encoding {
  return typeof form === "string" ? forms[form] : form;
}
