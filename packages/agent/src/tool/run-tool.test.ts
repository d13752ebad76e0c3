import { describe, expect, it } from "vitest";
import { z } from "zod";
import { anything, executionOf, outcomeOf, schemaOf, toolOf } from "../testing/tools.ts";
import type { RunFunction } from "../testing/tools.ts";
import { runTool } from "./run-tool.ts";
import { defineTool } from "../definition/tool.ts";
import type { AnyTool, ToolExecution } from "../definition/tool.ts";

describe("a tool", () => {
  it("gets the input, its execution and functions that need no owner", async () => {
    const input = { a: 1 };
    const seen: unknown[] = [];
    const options = executionOf(
      toolOf((given, { append, progress, signal, callId, effectKey, session }) => {
        seen.push(given, callId, effectKey, session.user, signal.aborted);
        append("abc");
        progress({ message: "half" });
        return { done: true };
      }),
      { input },
    );

    const outcome = await runTool(options);

    expect(seen).toStrictEqual([input, "c", "k", "u", false]);
    expect(seen[0]).toBe(input);
    const text = 'abc\n{"done":true}';
    expect(outcome).toStrictEqual({ status: "ok", text, output: { done: true } });
    expect(options.emitted).toStrictEqual(["abc", '\n{"done":true}']);
    expect(options.progress).toStrictEqual(["half"]);
  });

  it("fails if JSON can't hold what it returned, and the model learns that it ran", async () => {
    const outcome = await outcomeOf((_, { append }) => {
      append("3 rows");
      return { mean: Number.NaN };
    });

    expect(outcome.status).toBe("failed");
    expect(outcome.text).toBe(
      '3 rows\n{"mean":"[NaN]"}\nfailed: it ran, but JSON can\'t hold what it returned: NaN at mean',
    );
    expect(outcome.output).toBeUndefined();
    expect(outcome.emitted).toBe(outcome.text);
  });

  it.each<[string, RunFunction, string]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
      "failed: boom",
    ],
    ["rejects", () => Promise.reject(new Error("boom")), "failed: boom"],
    [
      "throws a string",
      () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw "boom";
      },
      "failed: boom",
    ],
    ["K07: rejects with nothing", () => Promise.reject(), "failed: undefined"],
    [
      "answers with a broken promise",
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable
        get then(): unknown {
          throw new Error("boom");
        },
      }),
      "failed: boom",
    ],
  ])("that %s has failed, with the message and no stack", async (_, run, text) => {
    expect(await outcomeOf(run)).toStrictEqual({ status: "failed", text, emitted: "" });
  });

  it("that fails after it streamed keeps what it streamed, and all of it is emitted", async () => {
    const outcome = await outcomeOf((_, { append }) => {
      append("one");
      throw new Error("boom");
    });

    expect(outcome).toStrictEqual({
      status: "failed",
      text: "one\nfailed: boom",
      emitted: "one\nfailed: boom",
    });
  });

  it("K07: that resolves twice has its first outcome", async () => {
    const outcome = await outcomeOf(
      () =>
        new Promise((resolve, reject) => {
          for (const text of ["first", "second"]) resolve(text);
          setImmediate(() => reject(new Error("third")));
        }),
    );

    expect(outcome.text).toBe("first");
  });

  it("that a client answers is not run here", async () => {
    const tool = defineTool({ name: "t", input: anything, output: anything, run: "client" });

    await expect(runTool(executionOf(tool))).rejects.toMatchObject({ code: "invalid_definition" });
  });

  it("D21: is not heard once it is settled", async () => {
    const kept: ToolExecution[] = [];
    const options = executionOf(
      toolOf((_, execution) => {
        kept.push(execution);
        execution.append("in time");
      }),
    );

    const outcome = await runTool(options);
    for (const { append, progress } of kept) {
      append("late");
      progress({ message: "late" });
    }

    expect(outcome.text).toBe("in time");
    expect(options.emitted).toStrictEqual(["in time"]);
    expect(options.progress).toStrictEqual([]);
  });

  it("D21: is not heard while its output is checked", async () => {
    let append: ToolExecution["append"] | undefined;
    const output = schemaOf((value) => {
      append?.("late");
      return { value };
    });
    const tool = defineTool<"t", typeof anything, unknown>({
      name: "t",
      input: anything,
      output,
      run: (_, execution) => ((append = execution.append), "done"),
    });

    expect((await runTool(executionOf(tool))).text).toBe("done");
  });

  it("that cuts a character in two streams it whole, and half a character is replaced", async () => {
    const options = executionOf(
      toolOf((_, { append }) => {
        append("a\ud83d");
        append("\ude00b");
        append("\udc00");
        append("c\ud83d");
      }),
    );

    const { text } = await runTool(options);

    expect(text).toBe("a😀b\ufffdc\ufffd");
    expect(options.emitted.join("")).toBe(text);
    expect(options.emitted.every((piece) => piece.isWellFormed() && piece !== "")).toBe(true);
  });

  it("K09: that appends something else than text is described, and goes on", async () => {
    const outcome = await outcomeOf((_, { append, progress }) => {
      append(new Uint8Array([0xff, 0xfe]) as unknown as string);
      append(5 as unknown as string);
      progress({ message: undefined as unknown as string });
    });

    expect(outcome).toMatchObject({ status: "ok", text: "[2 bytes]5" });
  });

  it("K08: that streams more than is stored is cut in its middle", async () => {
    const outcome = await outcomeOf(
      (_, { append }) => {
        for (let line = 0; line < 1_000; line += 1) append(`line ${line}\n`);
        return "exit 0";
      },
      { storedBytes: 40 },
    );

    expect(outcome.text).toBe(
      "line 0\nline 1\nline 2\n… 8850 bytes left out …\n7\nline 998\nline 999\nexit 0",
    );
    expect(outcome.emitted).toBe(outcome.text);
  });

  it("K08: that returns more than is stored is cut in its middle", async () => {
    const outcome = await outcomeOf(() => "x".repeat(100), { storedBytes: 10 });

    expect(outcome.text).toBe("xxxxx\n… 90 bytes left out …\nxxxxx");
    expect(outcome.emitted).toBe("");
  });
});

describe("what a tool returns", () => {
  const output = z.strictObject({ n: z.number() });

  it("is what its output schema makes of it", async () => {
    const tool = defineTool({
      name: "t",
      input: anything,
      output: schemaOf((value) => ({ value: { n: Number((value as { n: unknown }).n) } })),
      run: () => ({ n: 5 }),
    });

    expect(await runTool(executionOf(tool))).toMatchObject({ status: "ok", output: { n: 5 } });
  });

  it("is a failure if its output schema refuses it, or fails itself", async () => {
    const unfit = defineTool({ name: "t", input: anything, output, run: () => ({ n: 5 }) });
    const wrong: AnyTool = { ...unfit, run: () => ({ n: "5" }) };
    const broken: AnyTool = {
      ...unfit,
      output: schemaOf(() => Promise.reject(new Error("no database"))),
    };

    const refused = await runTool(executionOf(wrong));
    const failed = await runTool(executionOf(broken));

    expect(refused.status).toBe("failed");
    expect(refused.text).toContain("it returned what its output schema refuses:\nn: ");
    expect(refused.output).toBeUndefined();
    expect(failed).toStrictEqual({ status: "failed", text: "failed: no database" });
  });
});
