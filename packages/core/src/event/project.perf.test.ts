import { expect, test, vi } from "vitest";
import { List } from "../list.ts";
import { callId, partId } from "../ids.ts";
import { batch, deltas, empty, facts, item, opening, run, text } from "../testing/session.ts";
import { toolCall, toolResult, turn } from "../testing/session.ts";
import { growth } from "../../../../tests/kit/growth.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { apply } from "./apply.ts";
import { project } from "./project.ts";
import { reduceFact } from "./reduce.ts";
import type { SessionState } from "./state.ts";
import type { View } from "./view.ts";

vi.setConfig({ testTimeout: patience });

const small = 1_000;
const factor = process.env["CAMPAIGN"] === "1" ? 100 : 10;
/** How often each thing is done in a measurement, so that the processor's clock can tell it. */
const repeats = 2_000;
const part = partId("p1");

/** A session of so many items, every third a call and its answer, with one tool at work. */
function session(size: number): SessionState {
  const items = Array.from({ length: size }, (_, at) => {
    const call = `c${Math.floor(at / 3)}`;
    if (at % 3 === 0) return item(`i${at}`, "user", [text("a question")]);
    if (at % 3 === 1) return item(`i${at}`, "model", [toolCall(call)]);
    return item(`i${at}`, "tool", [toolResult(call)]);
  });
  const last = callId(`c${Math.floor((size - 2) / 3)}`);
  const used = { runId: run, turnId: turn, callId: last, tool: "search", input: {} };
  const at = { itemId: item("out", "tool", []).id, lane: 1, epoch: 1 };
  const [started] = facts(1, { type: "tool_execution_started", ...used, ...at });
  return reduceFact({ ...empty, items: List.of(items) }, started as NonNullable<typeof started>);
}

/** The same with a reply of which some text has come. */
function replying(size: number): SessionState {
  const begin = deltas({ op: "begin_part", partId: part, kind: "text" });
  return apply(session(size), batch([opening, ...begin])).state;
}

/** The growth of a cost from the small to the large session, again while it is above the limit. */
async function growthOf(prepare: (size: number) => () => unknown): Promise<number> {
  const measured = await retryWhenNoisy(
    async () => ({ growth: await growth(small, prepare, factor) }),
    (figures) => figures.growth <= 1.3,
    5,
  );
  console.log(`growth: ${measured.growth.toFixed(2)} × from ${small} to ${small * factor} items`);
  return measured.growth;
}

/** Applies deltas one by one and gives each view to a screen. */
function stream(size: number, show: (view: View) => unknown): () => void {
  let state = replying(size);
  show(project(state));
  let first = 2;
  return () => {
    for (let count = 0; count < repeats; count += 1, first += 1) {
      const delta = deltas({ op: "append_text", partId: part, chunk: "word " });
      ({ state } = apply(state, batch(delta, { first })));
      show(project(state));
    }
  };
}

test("a view costs the same in a long session", async () => {
  const ratio = await growthOf((size) => {
    const state = session(size);
    expect(project(state).items.length).toBeGreaterThan(size / 2);
    return () => {
      // A state of its own for each view, as after a fact that changes no item.
      for (let count = 0; count < repeats; count += 1) {
        const view = project({ ...state, compacting: count % 2 === 0 });
        if (view.items.length < size / 2) throw new Error("the items are not there");
      }
    };
  });

  expect(ratio).toBeLessThanOrEqual(1.3);
});

test("a delta with a view costs the same in a long session, until its items are read", async () => {
  const ratio = await growthOf((size) => stream(size, (view) => view.status));

  expect(ratio).toBeLessThanOrEqual(1.3);
});

test("an item with a view costs the same in a long session, beside a copy of the references", async () => {
  const size = small * factor;
  const appending = (): (() => void) => {
    let state = session(size);
    void project(state).items;
    return () => {
      for (let count = 0; count < repeats / 10; count += 1) {
        const added = item(`more${count}`, "model", [text("an answer")]);
        state = { ...state, items: state.items.append(added) };
        void project(state).items;
      }
    };
  };
  const copying = (): (() => void) => {
    const rows = Array.from({ length: size }, (_, at) => ({ at }));
    let copy: readonly object[] = [];
    return () => {
      for (let count = 0; count < repeats / 10; count += 1) copy = [...rows, { at: copy.length }];
    };
  };
  const figures = await retryWhenNoisy(
    async () => ({ items: await cost(appending), copies: await cost(copying) }),
    ({ items, copies }) => items <= 2 * copies,
    5,
  );
  console.log(`cost: ${JSON.stringify(figures)} µs of the processor at ${size} items`);

  expect(figures.items).toBeLessThanOrEqual(2 * figures.copies);
});

/** Microseconds of the processor: the least of several runs, since noise only adds. */
async function cost(prepare: () => () => unknown): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < 6; count += 1) {
    const work = prepare();
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}
