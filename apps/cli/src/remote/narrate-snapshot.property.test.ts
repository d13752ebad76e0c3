import { narrate, textOf } from "@millrace/core";
import type { Fact, Item, Narration, SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { apply, emptyState } from "@millrace/core/reading";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { History, session, uid } from "../../../../packages/core/src/testing/histories.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { narrateSnapshot } from "./narrate-snapshot.ts";

vi.setConfig({ testTimeout: patience });

/** What a reader of narrations has on the screen of each item: its text and its reasoning. */
class Shown {
  readonly texts = new Map<string, string>();

  take(narrations: readonly Narration[]): void {
    for (const narration of narrations) {
      if (narration.type === "assistant_text_delta" || narration.type === "reasoning_delta") {
        const before = this.texts.get(narration.itemId) ?? "";
        this.texts.set(narration.itemId, before + narration.text);
      } else if (narration.type === "attempt_superseded") this.texts.delete(narration.itemId);
      else if (narration.type === "item_replaced")
        this.texts.set(narration.item.id, textIn(narration.item.parts));
    }
  }
}

function textIn(parts: Item["parts"]): string {
  return parts.map((part) => (isText(part.kind) && "text" in part ? part.text : "")).join("");
}

function isText(kind: string): boolean {
  return kind === "text" || kind === "reasoning";
}

/** What should be on it, by the state. Items of users and tools are left out. */
function wanted({ items, lanes }: SessionState): ReadonlyMap<string, string> {
  const replies = [...items].filter(({ author }) => author !== "user" && author !== "tool");
  const texts = new Map<string, string>(replies.map(({ id, parts }) => [id, textIn(parts)]));
  for (const { itemId, callId, draft } of lanes) {
    if (callId !== undefined) continue;
    const parts = draft.parts.map((part) => {
      if (part.state === "committed") return textIn([part.part]);
      return isText(part.begin.kind) ? textOf(part) : "";
    });
    texts.set(itemId, parts.join(""));
  }
  return texts;
}

const sorted = (text: string): string => Array.from(text).toSorted().join("");

test("after a snapshot in the place of any messages, the screen has the text of every item once", () => {
  let compared = 0;
  fc.assert(
    fc.property(
      fc.array(fc.nat(0xffffff), { maxLength: 200, size: "max" }),
      fc.nat(),
      fc.nat(),
      (numbers, one, other) => {
        const { messages } = new History(numbers);
        const [from = 0, to = 0] = [one, other]
          .map((at) => at % (messages.length + 1))
          .toSorted((a, b) => a - b);
        const shown = new Shown();
        let state = emptyState(uid, session);
        const follow = (part: readonly (Fact | Batch)[], isShown: boolean): void => {
          for (const message of part) {
            if (isShown) shown.take(narrate(state, message));
            ({ state } = apply(state, message));
          }
        };
        follow(messages.slice(0, from), true);
        const before = state;
        follow(messages.slice(from, to), false);
        shown.take(narrateSnapshot(before, structuredCopy(state)));
        follow(messages.slice(to), true);

        for (const [id, text] of wanted(state)) {
          // Parts that are written at once come mixed, so only what there is of each letter is compared.
          expect(sorted(shown.texts.get(id) ?? "")).toBe(sorted(text));
          compared += text.length;
        }
      },
    ),
    { numRuns: runs(1_000, 200_000) },
  );
  console.log(`count: ${compared} characters compared after snapshots`);
  expect(compared).toBeGreaterThan(1_000);
});

/** A state of other objects, as a snapshot gives it. */
function structuredCopy(state: SessionState): SessionState {
  return { ...state, lanes: state.lanes.map((lane) => ({ ...lane })) };
}
