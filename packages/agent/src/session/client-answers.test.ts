import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import type { Session } from "./session.ts";

const locate = defineTool({
  name: "locate",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});

/** Answers the only call of a run. Returns the acceptance and the stored result. */
async function answered(answer: unknown): Promise<{ accepted: boolean; result: unknown }> {
  const model = scriptedModel([[call("locate", {})], [say("Done.")]]);
  await using session = await defineAgent({ model, tools: [locate] }).open();
  const run = session.send("where am I?");
  const { callId } = await run.until("tool_execution_started");
  const { accepted } = await session.answer(callId, answer).accepted;
  if (!accepted) run.abort();
  await run.result;
  return { accepted, result: resultIn(session) };
}

function resultIn({ transcript }: Pick<Session, "transcript">): unknown {
  return transcript.flatMap(({ parts }) => parts).find(({ kind }) => kind === "tool_result");
}

it("a client's answer is its output, by itself or named as such", async () => {
  for (const answer of [{ city: "Oslo" }, { output: { city: "Oslo" } }]) {
    const { accepted, result } = await answered(answer);
    expect(accepted).toBe(true);
    expect(result).toMatchObject({ status: "ok", output: { city: "Oslo" } });
  }
});

it("the model gets the error of a client's tool that failed", async () => {
  const { accepted, result } = await answered({ error: "location is switched off" });

  expect(accepted).toBe(true);
  expect(result).toMatchObject({ status: "failed" });
  expect(JSON.stringify(result)).toContain("location is switched off");
});

it("an answer that has neither form nor the tool's shape is refused", async () => {
  for (const answer of [{ error: 7 }, { error: "no", city: 1 }, { output: { town: "Oslo" } }])
    expect((await answered(answer)).accepted).toBe(false);
});
