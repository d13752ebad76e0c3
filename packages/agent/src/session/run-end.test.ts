import { MillraceError } from "@millrace/core";
import { call, fail, say, scriptedModel } from "@millrace/core/testing";
import { afterEach, expect, test, vi } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import { narrateTo } from "../observe/narrate-to.ts";

const failing = [fail("unauthorized", "the key is not known", { retryable: false })];

function agentOf(...replies: Parameters<typeof scriptedModel>[0]) {
  return defineAgent({ model: scriptedModel(replies) });
}

async function all<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const values: T[] = [];
  for await (const value of stream) values.push(value);
  return values;
}

function spyOnWarnings() {
  return vi.spyOn(process, "emitWarning").mockReturnValue();
}

type EmitWarning = ReturnType<typeof spyOnWarnings>;

/** The codes of warnings that the process was given. Node's own have no options. */
function warningsSeen({ mock: { calls } }: EmitWarning): readonly string[] {
  return calls.flatMap(([, options]) =>
    typeof options === "object" && options.code !== undefined ? [options.code] : [],
  );
}

afterEach(() => {
  vi.restoreAllMocks();
});

test("the text of a run streams as it is written, and joined it is the text of its answer", async () => {
  const run = agentOf([say("Hello, "), say("world")]).run("hi");

  const texts = await all(run.textStream());

  expect(texts.join("")).toBe(await run.text());
});

test("a stream of text throws at a failed end, after what came, with the code and the cause", async () => {
  const run = agentOf([say("so far"), ...failing]).run("hi");
  const texts: string[] = [];

  const reading = (async () => {
    for await (const text of run.textStream()) texts.push(text);
  })();

  await expect(reading).rejects.toSatisfy((error) => MillraceError.is(error));
  await expect(reading).rejects.toMatchObject({
    code: "provider_failed",
    cause: { code: "unauthorized", message: "the key is not known" },
  });
  expect(texts.join("")).toBe("so far");
});

test("a narration ends with the outcome of a run that was refused", async () => {
  const session = await agentOf([say("so")]).open();
  await session.close();

  const narrations = await all(session.send("hi").narrate());

  expect(narrations.at(-1)).toMatchObject({
    type: "run_finished",
    outcome: "failed",
    cause: { code: "closed" },
  });
});

test("a failed run warns the process once if only its text is read", async () => {
  const emitWarning = spyOnWarnings();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const run = agentOf(failing).run("hi");

  const { text } = await run.result;
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();

  expect(text).toBe("");
  expect(warningsSeen(emitWarning)).toStrictEqual(["MILLRACE_RUN_FAILED"]);
});

test.for(["result", "narration", "thrown", "off", "observed"] as const)(
  "a failed run does not warn if its end is read: %s",
  async (way) => {
    const emitWarning = spyOnWarnings();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const observers = way === "observed" ? [narrateTo({ write: () => true })] : [];
    const warnings = way !== "off";
    const model = scriptedModel([failing]);
    const run = defineAgent({ model, observers, warnings }).run("hi");

    if (way === "result") expect((await run.result).outcome).toBe("failed");
    else if (way === "thrown") await expect(run.text()).rejects.toThrow("not known");
    else {
      for await (const event of run.narrate())
        if (way === "narration" && event.type === "run_finished") void event.outcome;
    }
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();

    expect(warningsSeen(emitWarning)).toStrictEqual([]);
  },
);

test("a time-out of the caller's signal is the reason in the result and in the narration", async () => {
  const lines: string[] = [];
  const model = scriptedModel([[say("so"), { stall: undefined }]]);
  const agent = defineAgent({
    model,
    observers: [narrateTo({ write: (text) => lines.push(text) })],
  });

  const result = await agent.run("hi", { signal: AbortSignal.timeout(200) }).result;

  expect(result).toMatchObject({ outcome: "aborted", reason: "its signal timed out" });
  expect(lines.join("")).toContain("► stopped: its signal timed out");
});

test("a call of an unknown tool is narrated with the reason", async () => {
  const lines: string[] = [];
  const model = scriptedModel([[call("nope", {})], [say("so")]]);
  const agent = defineAgent({
    model,
    observers: [narrateTo({ write: (text) => lines.push(text) })],
  });

  await agent.run("hi").result;

  expect(lines.join("")).toContain('► nope: not run: there is no tool "nope"');
});
