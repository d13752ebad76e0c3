import { encodeCursor, encodeStep } from "@millrace/core/wire";
import type { Followed } from "@millrace/core/reading";
import type { Encoding } from "./encoding.ts";
import { FrameCache } from "./frame-cache.ts";
import { LastSteps } from "./last-steps.ts";
import { wholeData, wholeFrame, wholeLines } from "./whole.ts";

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
