import fc from "fast-check";
import { expect, test } from "vitest";
import { choices, content } from "../testing/delta-programs.ts";
import { History, session, uid } from "../testing/histories.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { decodeMessage, encodeMessage } from "../wire/message-codec.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import { fold } from "../delta/fold.ts";
import { apply } from "./apply.ts";
import type { Batch } from "./batch.ts";
import type { Fact } from "./event.ts";
import { narrate } from "./narrate.ts";
import { project } from "./project.ts";
import { replay } from "./reduce.ts";
import { restore, snapshot } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import { emptyState } from "./state.ts";
import type { SessionState } from "./state.ts";

const histories = runs(4_000, 200_000, 300);
/** A law may check every cursor of a history, so one of them costs as much as fifty of the others. */
const joined = Math.ceil(histories / 4);
const empty = emptyState(uid, session);

function law(
  promise: string,
  name: string,
  holds: (history: History, numbers: readonly number[]) => number,
  times = histories,
): void {
  test(name, { timeout: 3_600_000 }, () => {
    let checks = 0;
    fc.assert(
      fc.property(choices(60), (numbers) => {
        checks += holds(new History(numbers), numbers);
      }),
      { numRuns: times },
    );
    console.log(`count: ${promise} ${name}, ${times} histories, ${checks} checks, 0 failures`);
  });
}

function applyAll(state: SessionState, messages: readonly (Fact | Batch)[]): SessionState {
  return messages.reduce((current, message) => apply(current, message).state, state);
}

/** The whole state as text, for comparing two of them. */
function picture(state: SessionState): string {
  return encodeMessage(snapshot(state));
}

law("P16", "a history in order is applied whole", ({ messages }) => {
  let state = empty;
  for (const message of messages) {
    const applied = apply(state, message);
    expect(applied.verdict).toBe("applied");
    ({ state } = applied);
  }
  return messages.length;
});

law(
  "P16",
  "snapshot and tail are the whole, from every cursor",
  ({ messages }) => {
    const whole = applyAll(empty, messages);
    const wanted = picture(whole);
    const view = project(whole);

    let state = empty;
    for (const [index, message] of messages.entries()) {
      const taken = decodeMessage(picture(state));
      if (!taken.ok) throw new Error(taken.fault.message);
      const joined = applyAll(restore(taken.value as Snapshot), messages.slice(index));
      expect(picture(joined)).toBe(wanted);
      if (index % 8 === 0) expect(project(joined)).toEqual(view);
      ({ state } = apply(state, message));
    }
    return messages.length;
  },
  joined,
);

law("P2", "lanes fold as if each ran alone", ({ messages, writers }) => {
  const state = applyAll(empty, messages);

  expect(state.lanes.map(({ lane }) => lane)).toEqual(
    [...writers.keys()].toSorted((a, b) => a - b),
  );
  for (const { lane, epoch, seq, draft } of state.lanes) {
    const writer = writers.get(lane);
    expect([epoch, seq]).toEqual([writer?.epoch, writer?.seq]);
    expect(content(draft)).toBe(content((writer?.deltas ?? []).reduce(fold, emptyDraft())));
  }
  return state.lanes.length;
});

law(
  "P17",
  "doubled and reordered messages change nothing, or are reported as a gap",
  ({ messages }, numbers) => {
    let state = empty;
    let checks = 0;
    for (const message of disordered(messages, numbers)) {
      const applied = apply(state, message);
      // Only what is applied moves the state; everything else leaves the very same object.
      if (applied.verdict !== "applied") expect(applied.state).toBe(state);
      ({ state } = applied);
      checks += 1;
    }

    // A reader that reads again from the store and the log ends with the same state.
    expect(picture(applyAll(state, messages))).toBe(picture(applyAll(empty, messages)));
    return checks;
  },
);

law("P16", "what is missing is a gap, until it is filled", ({ messages }, numbers) => {
  const lost = messages.filter((_, index) => (numbers[index] ?? 0) % 5 === 0);
  const rest = messages.filter((message) => !lost.includes(message));

  const state = applyAll(empty, rest);

  // A prefix of the facts, however much was lost.
  const facts = messages.filter((message): message is Fact => "n" in message);
  const firstLost = lost.find((message): message is Fact => "n" in message);
  expect(state.head).toBe(firstLost === undefined ? facts.length : firstLost.n - 1);
  expect(picture(applyAll(state, messages))).toBe(picture(applyAll(empty, messages)));
  return lost.length;
});

law(
  "P12",
  "a lower epoch never changes the state, a higher one voids exactly its lane",
  ({ messages }) => {
    const state = applyAll(empty, messages);
    for (const lane of state.lanes) {
      const opened = messages.find(
        (message) =>
          "first" in message && message.lane === lane.lane && message.epoch === lane.epoch,
      ) as Batch;
      const opening: Batch = { ...opened, first: 0, last: 0, events: opened.events.slice(0, 1) };

      const lower = apply(state, { ...opening, epoch: lane.epoch - 1 });
      const higher = apply(state, { ...opening, epoch: lane.epoch + 1, head: state.head });

      expect(lower.verdict).toBe("stale");
      expect(lower.state).toBe(state);
      expect(higher.verdict).toBe("applied");
      expect(higher.state.items).toBe(state.items);
      for (const other of higher.state.lanes) {
        const before = state.lanes.find((open) => open.lane === other.lane);
        if (other.lane === lane.lane) expect(other.draft.parts).toEqual([]);
        else expect(other).toBe(before);
      }
    }
    return state.lanes.length * 2;
  },
);

law("P2", "the facts alone give the state that they gave one by one", ({ messages }) => {
  const facts = messages.filter((message): message is Fact => "n" in message);

  const replayed = replay(empty, facts);

  expect(picture(replayed)).toBe(picture(applyAll(empty, facts)));
  return facts.length;
});

law("P2", "the narration of an item's text is its text", ({ messages }) => {
  const told = new Map<string, string>();
  let state = empty;
  let items = 0;
  for (const message of messages) {
    for (const event of narrate(state, message)) {
      if (event.type === "assistant_text_delta")
        told.set(event.itemId, (told.get(event.itemId) ?? "") + event.text);
      if (event.type === "attempt_superseded") told.delete(event.itemId);
      if (event.type !== "item_committed") continue;
      const text = event.item.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
      // Parts that are written at the same time are narrated as they come, so only the letters are compared.
      expect(letters(told.get(event.item.id) ?? "")).toBe(letters(text));
      items += 1;
    }
    ({ state } = apply(state, message));
  }
  return items;
});

function letters(text: string): string {
  return Array.from(text).toSorted().join("");
}

/** Delays some messages and doubles others, as chosen by the numbers. */
function disordered(
  messages: readonly (Fact | Batch)[],
  numbers: readonly number[],
): readonly (Fact | Batch)[] {
  const placed = messages.flatMap((message, index) => {
    const number = numbers[index % Math.max(1, numbers.length)] ?? 0;
    const late = { at: index + ((number >> 7) % 4), message };
    return number % 3 === 0 ? [late, { at: index + ((number >> 9) % 9), message }] : [late];
  });
  return placed.toSorted((left, right) => left.at - right.at).map(({ message }) => message);
}

test(
  "snapshot and tail are the whole in every interleaving of three lanes",
  { timeout: 120_000 },
  () => {
    // Open, write, end: each list of choices is for another lane.
    const lanes = [
      new History([0, 9, 10, 2]),
      new History([40, 49, 42]),
      new History([80, 69, 83]),
    ];
    // Each lane alone, without the three facts that every history begins with.
    const sources = lanes.map(({ messages }) => messages.slice(3));
    const start = new History([]).messages;
    let cursors = 0;
    let interleavings = 0;
    for (const order of merges(sources)) {
      const messages = renumbered([...start, ...order]);
      const wanted = picture(applyAll(empty, messages));
      interleavings += 1;
      let state = empty;
      for (const [index, message] of messages.entries()) {
        const joined = applyAll(restore(snapshot(state)), messages.slice(index));
        expect(picture(joined)).toBe(wanted);
        ({ state } = apply(state, message));
        cursors += 1;
      }
      expect(picture(state)).toBe(wanted);
    }
    console.log(
      `count: P16 every cursor of every interleaving, ${interleavings} interleavings, ${cursors} cursors, 0 failures`,
    );
    expect(interleavings).toBe(4_200);
  },
);

/** All ways to bring the lists together that keep each one's own order. */
function* merges<T>(lists: readonly (readonly T[])[]): Generator<readonly T[]> {
  if (lists.every((list) => list.length === 0)) yield [];
  for (const [index, [first, ...rest]] of lists.entries()) {
    if (first === undefined) continue;
    for (const more of merges(lists.with(index, rest))) yield [first, ...more];
  }
}

/** Facts get their number where they stand, as they would from a store. */
function renumbered(messages: readonly (Fact | Batch)[]): readonly (Fact | Batch)[] {
  let n = 0;
  return messages.map((message) => ("n" in message ? { ...message, n: (n += 1) } : message));
}
