import { callId, itemId, partId, runId } from "@millrace/core/writing";
import type { Item, Narration, RunEvent } from "@millrace/core";
import { describe, expect, it } from "vitest";
import { itemsBefore, showPast } from "../chat/past.ts";
import { createPlainOutput } from "./plain-output.ts";
import { NarrationPrinter } from "./narration-printer.ts";

const live = { live: true, color: false };
const plain = { live: false, color: false };

/** A printer on plain output, and what it printed. */
function createPrinter(options = plain): {
  readonly printer: NarrationPrinter;
  readonly text: () => string;
} {
  let written = "";
  const printer = new NarrationPrinter(
    createPlainOutput((text) => (written += text)),
    options,
  );
  return { printer, text: () => written };
}

const textDelta = (text: string, part = "p1"): Narration => ({
  type: "assistant_text_delta",
  itemId: itemId("i1"),
  partId: partId(part),
  text,
});
const reasoningDelta = (text: string): Narration =>
  ({ ...textDelta(text, "p0"), type: "reasoning_delta" }) as Narration;
const call = { callId: callId("c1"), tool: "shell" };
const input = { command: "ls" };

function result(status: "ok" | "denied" | "unknown", text: string): Item {
  const part = { kind: "tool_result", id: partId("r"), ...call, status, text } as const;
  return { id: itemId("i2"), author: "tool", parts: [part], stop: "end" };
}

describe("text", () => {
  it("is written as it comes, and reasoning is marked as such", () => {
    const { printer, text } = createPrinter();

    for (const narration of [
      reasoningDelta("hm"),
      reasoningDelta("m"),
      textDelta("Hel"),
      textDelta("lo."),
    ])
      printer.print(narration, 0);

    expect(text()).toBe("(reasoning) hmm\nHello.");
  });

  it("of an attempt that failed is struck by a line, and only if some was shown", () => {
    const { printer, text } = createPrinter();
    const superseded: Narration = { type: "attempt_superseded", itemId: itemId("i1") };

    printer.print(superseded, 0);
    expect(text()).toBe("");
    printer.print(textDelta("Hal"), 0);
    printer.print(superseded, 0);
    printer.print(superseded, 0);

    expect(text()).toBe("Hal\n► — attempt failed, trying again —\n");
  });

  it("that is cut inside a sequence of the terminal is harmless", () => {
    const { printer, text } = createPrinter();

    for (const piece of ["a\u001b", "[2", "Jb ► c"]) printer.print(textDelta(piece), 0);

    expect(text()).toBe("ab ▸ c");
  });
});

describe("a tool", () => {
  it("is one row while it works and one line when it is done", () => {
    const { printer, text } = createPrinter(live);

    printer.print({ type: "tool_call_started", ...call }, 0);
    expect(printer.tools(0)).toEqual(["► shell … being written"]);
    printer.print({ type: "tool_call_ready", ...call, input }, 0);
    printer.print({ type: "tool_execution_started", ...call, input }, 1_000);
    printer.print({ type: "tool_output_delta", ...call, text: "one\ntwo\n" }, 2_000);
    expect(printer.tools(3_500)).toEqual(['► shell {"command":"ls"} … 2.5 s two']);
    expect(text()).toBe("");
    printer.print({ type: "item_committed", item: result("ok", "one\ntwo\n") }, 4_000);

    expect(text()).toBe('► shell {"command":"ls"}: ok, 3.0 s\n  one\n  two\n');
    expect(printer.tools(5_000)).toEqual([]);
  });

  it("is a line for each thing that it does where nothing can be redrawn", () => {
    const { printer, text } = createPrinter();

    printer.print({ type: "tool_execution_started", ...call, input }, 0);
    printer.print({ type: "tool_execution_update", ...call, message: "half" }, 0);
    printer.print({ type: "item_committed", item: result("denied", "no") }, 100);

    expect(text()).toBe(
      '► shell {"command":"ls"} …\n► shell: half\n► shell {"command":"ls"}: denied, 0.1 s\n  no\n',
    );
  });

  it("without a known end is shown as unknown", () => {
    const { printer, text } = createPrinter();

    printer.print({ type: "item_committed", item: result("unknown", "") }, 0);

    expect(text()).toBe("► shell: unknown; it may have run, and nobody knows how it ended\n");
  });

  it("shows the end of a long output, and how much was before", () => {
    const { printer, text } = createPrinter();
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`).join("\n");

    printer.print({ type: "item_committed", item: result("ok", lines) }, 0);

    expect(text()).toContain("  (14 lines before)\n  line 15\n");
    expect(text()).not.toContain("line 14\n");
  });
});

describe("an end", () => {
  const cause = { code: "overloaded", message: "too \u001b[31mbusy\u0007" };
  const run = { runId: runId("r1") };

  it.each<readonly [Narration, string]>([
    [{ type: "run_finished", ...run, outcome: "aborted" }, "► stopped; what came is kept\n"],
    [
      { type: "run_finished", ...run, outcome: "failed", cause },
      "► failed: overloaded: too busy␇\n",
    ],
    [
      { type: "run_finished", ...run, outcome: "limited", limit: "turns" },
      "► ended by a limit: turns\n",
    ],
    [{ type: "run_finished", ...run, outcome: "completed" }, ""],
    [
      { type: "stalled", itemId: itemId("i1"), silentMs: 12_340 },
      "► nothing has come for 12.3 s\n",
    ],
  ])("of %j is one line", (narration, line) => {
    const { printer, text } = createPrinter();

    printer.print(narration, 0);

    expect(text()).toBe(line);
  });
});

describe("the past", () => {
  const itemOf = (author: "user" | "model", id: string, text: string): Item => ({
    id: itemId(id),
    author,
    parts: [{ kind: "text", id: partId("p"), text }],
    stop: "end",
  });

  it("shows prompts, replies and results, and where it was stopped and interrupted", () => {
    const { printer, text } = createPrinter();
    const { id, author, parts } = itemOf("model", "b", "Once upon");
    const cause = { code: "aborted", message: "stopped" };
    const cut: Item = { id, author, parts, stop: "aborted", cause };

    const items = [itemOf("user", "a", "tell\nme"), cut, result("ok", "")];
    showPast(printer, { past: { items, earlier: 0 }, interrupted: true });

    expect(text()).toBe(
      "► you: tell\n  me\nOnce upon\n► — it was stopped here —\n► shell: ok\n" +
        "► the run was interrupted here, before it was done\n",
    );
  });

  it("is the last items only, and says how many were before", () => {
    const { printer, text } = createPrinter();
    const items = Array.from({ length: 20 }, (_, at) => itemOf("user", `i${at}`, `item ${at}.`));

    showPast(printer, { past: { items, earlier: 0 }, interrupted: false });

    expect(text()).toMatch(/^► \(8 items before\)\n► you: item 8\.\n/);
  });

  it("does not have what has happened since the session was opened", () => {
    const items = [itemOf("user", "a", "one"), itemOf("model", "b", "two")];
    const [, second] = items;
    const committed = { type: "item_committed", item: second } as unknown as RunEvent; // as far as it is read

    expect(itemsBefore(items, [committed])).toEqual(items.slice(0, 1));
  });
});
