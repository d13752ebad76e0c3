import { partId } from "@millrace/core/writing";
import type { RunEvent } from "@millrace/core";
import { expect, test, vi } from "vitest";
import { queuedObserver } from "./queued.ts";
import { append, begin, delta, epochOf, Facts, live, opened, run, turn } from "./testing/events.ts";
import { patience } from "../../../../tests/kit/patience.ts";

vi.setConfig({ testTimeout: patience });

const never = new Promise<void>(() => undefined);

function textOf(events: readonly RunEvent[], lane = 0): string {
  return events
    .map((event) =>
      event.type === "content_delta" && event.lane === lane && event.delta.op === "append_text"
        ? event.delta.chunk
        : "",
    )
    .join("");
}

test("events are handled one by one, in order, and later", async () => {
  const seen: string[] = [];
  const observer = queuedObserver(async (event) => {
    seen.push(`begin ${event.type}`);
    await Promise.resolve();
    seen.push(`end ${event.type}`);
  });

  observer(opened());
  observer(begin("text"));
  expect(seen).toEqual([]);
  await observer.idle();

  expect(seen).toEqual([
    "begin attempt_started",
    "end attempt_started",
    "begin content_delta",
    "end content_delta",
  ]);
});

test("a handler that never settles costs a bounded queue, and loses no text", async () => {
  const dropped: RunEvent[] = [];
  const kept: RunEvent[] = [];
  let open: (() => void) | undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const observer = queuedObserver(
    async (event) => {
      await gate;
      kept.push(event);
    },
    { capacity: 100, onDropped: (event) => dropped.push(event) },
  );
  observer(opened());
  await Promise.resolve();
  let most = 0;
  let text = "";
  for (let count = 0; count < 100_000; count += 1) {
    const chunk = String.fromCharCode(97 + (count % 26));
    text += chunk;
    observer(append(chunk));
    most = Math.max(most, observer.waiting());
  }

  expect(most).toBeLessThanOrEqual(100);
  expect(dropped).toEqual([]);
  console.log(`count: 100000 deltas waited as ${observer.waiting()} events, at most ${most}`);
  open?.();
  await observer.idle();
  expect(textOf(kept)).toBe(text);
});

test("deltas of lanes that interleave are merged lane by lane", async () => {
  const kept: RunEvent[] = [];
  let open: (() => void) | undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const observer = queuedObserver(
    async (event) => {
      await gate;
      kept.push(event);
    },
    { capacity: 10 },
  );
  observer(opened());
  await Promise.resolve();
  for (let count = 0; count < 1_000; count += 1) {
    observer(append("a", { lane: 0 }));
    observer(append("b", { lane: 1, generation: 2, item: "item_2" }));
  }

  expect(observer.waiting()).toBeLessThanOrEqual(10);
  open?.();
  await observer.idle();
  expect(textOf(kept, 0)).toBe("a".repeat(1_000));
  expect(textOf(kept, 1)).toBe("b".repeat(1_000));
});

test("deltas before and after a fact are not merged", async () => {
  const kept: RunEvent[] = [];
  const facts = new Facts();
  const observer = queuedObserver((event) => void kept.push(event), { capacity: 2 });

  observer(append("a"));
  observer(append("b"));
  observer(facts.make({ type: "compaction_started", runId: run }));
  observer(append("c"));
  observer(append("d"));
  await observer.idle();

  const handled = kept.map((event) =>
    event.type === "content_delta" ? textOf([event]) : event.type,
  );
  expect(handled).toEqual(["ab", "compaction_started", "cd"]);
});

test("facts are never dropped, and an attempt has no gaps", async () => {
  const dropped: RunEvent[] = [];
  const facts = new Facts();
  const seen: RunEvent[] = [];
  let open: (() => void) | undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const observer = queuedObserver(
    async (event) => {
      await gate;
      seen.push(event);
    },
    { capacity: 4, onDropped: (event) => dropped.push(event) },
  );
  observer(opened());
  await Promise.resolve();
  // Parts that begin can't be merged.
  for (let part = 0; part < 20; part += 1) {
    observer(delta({ op: "begin_part", partId: partId(`p${part}`), kind: "text" }));
    observer(facts.make({ type: "compaction_started", runId: run }));
  }
  const closes = epochOf(1);
  observer(facts.make({ type: "turn_finished", runId: run, turnId: turn, stop: "end", closes }));

  expect(observer.waiting()).toBe(4 + 21);
  expect(dropped).toHaveLength(16);
  open?.();
  await observer.idle();
  const begun = seen.flatMap((event) =>
    event.type === "content_delta" ? [event.delta.partId] : [],
  );
  expect(begun).toEqual(["p0", "p1", "p2", "p3"]);
  expect(seen.filter((event) => "n" in event)).toHaveLength(21);

  // The turn has ended, so its broken attempts are forgotten.
  observer(begin("text"));
  await observer.idle();
  expect(dropped).toHaveLength(16);
});

test("dropping events of one attempt drops none of another", async () => {
  const dropped: RunEvent[] = [];
  const observer = queuedObserver(() => never, {
    capacity: 1,
    onDropped: (event) => dropped.push(event),
  });
  observer(opened());
  await Promise.resolve();

  observer(begin("text"));
  observer(begin("text", {}, "p2"));
  observer(append("x", { lane: 1, generation: 2 }));

  expect(dropped.map((event) => ("lane" in event ? event.lane : undefined))).toEqual([0, 1]);
});

test("an error of the handler is reported, and the next event is still handled", async () => {
  const errors: unknown[] = [];
  let handled = 0;
  const observer = queuedObserver(
    () => {
      handled += 1;
      throw new Error("no database");
    },
    {
      onError: (error) => {
        errors.push(error);
        throw new Error("nor a reporter");
      },
    },
  );

  observer(opened());
  observer(live({ type: "stalled", silentMs: 1 }));
  await observer.idle();

  expect(handled).toBe(2);
  expect(errors).toHaveLength(2);
});

test("disposing waits for the queue and refuses later events", async () => {
  const seen: RunEvent[] = [];
  const dropped: RunEvent[] = [];
  const observer = queuedObserver(
    async (event) => {
      await Promise.resolve();
      seen.push(event);
    },
    { onDropped: (event) => dropped.push(event) },
  );
  {
    await using closing = observer;
    closing(opened());
    closing(begin("text"));
  }
  observer(append("late"));

  expect(seen).toHaveLength(2);
  expect(dropped).toHaveLength(1);
});

test("an aborted signal drops the queue, so that a hanging handler blocks no dispose", async () => {
  const stop = new AbortController();
  const dropped: RunEvent[] = [];
  const observer = queuedObserver(() => never, {
    onDropped: (event) => dropped.push(event),
    signal: stop.signal,
  });
  observer(opened());
  observer(begin("text"));
  await Promise.resolve();
  const idle = observer.idle();

  stop.abort();
  await idle;
  await observer[Symbol.asyncDispose]();

  expect(dropped).toHaveLength(1);
  expect(observer.waiting()).toBe(0);
});
