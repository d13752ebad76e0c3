import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { openEngineSession } from "@millrace/agent/engine";
import type { StepAnswer, StepRequest } from "@millrace/agent/engine";
import { outline } from "@millrace/agent/loop";
import { createInbox } from "@millrace/core";
import type { Fact } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { FactOf } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { z } from "zod";
import { StepEngine } from "../testing/step-engine.ts";

/** The argument of the one call: short, so that all of its kind can be tried. */
const pin = "4711";
const pins = Array.from({ length: 10_000 }, (_, at) => String(at).padStart(4, "0"));

const agentOf = (ran: string[]): Agent =>
  defineAgent({
    model: {
      id: "m",
      stream: (request) => {
        const isAnswered = request.transcript.at(-1)?.author === "tool";
        const reply = isAnswered ? say("done") : call("open", { pin });
        return scriptedModel([[reply]]).stream(request);
      },
    },
    tools: [
      defineTool({
        name: "open",
        input: z.object({ pin: z.string() }),
        effect: "effectful",
        approve: "ask",
        run: (input) => void ran.push(input.pin),
      }),
    ],
  });

interface Played {
  /** All answers of steps, as they stand in a history. */
  readonly answers: string;
  readonly facts: readonly Fact[];
  readonly ran: readonly string[];
}

/** A question, another worker, a yes, and the end. `asked` changes the requests that are made before the yes. */
async function play(asked: (request: Request) => Request): Promise<Played> {
  const ran: string[] = [];
  const agent = agentOf(ran);
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const record = await store.create({ sessionId: "s" });
  const inbox = createInbox({ uid: record.uid, store, log });
  await inbox.send("begin");
  const answers: StepAnswer[] = [];
  const open = () => openEngineSession({ agent, record, store, log });
  let worker = await open();
  let change = asked;
  const engine = new StepEngine("run", async (request) => {
    const context = { signal: new AbortController().signal, isCurrent: async () => true };
    const answer = await worker.step({ ...change(request), attempt: 1 }, context);
    answers.push(answer);
    return answer;
  });
  await engine.run();
  await worker.close();
  worker = await open();
  change = (request) => request;
  const question = (await store.read(record.uid)).find(isQuestion);
  if (question !== undefined) await inbox.allow(question.approvalId);
  await engine.run();
  await worker.close();
  return { answers: JSON.stringify(answers), facts: await store.read(record.uid), ran };
}

type Request = Omit<StepRequest, "attempt">;

function isQuestion(fact: Fact): fact is FactOf<"approval_requested"> {
  return fact.type === "approval_requested";
}

/** What a step would tell of the call if this were its argument. */
function printOf(facts: readonly Fact[], guess: string): string {
  const reply = facts.find(
    (fact) => fact.type === "item_committed" && fact.item.author === "model",
  );
  const guessed = JSON.parse(JSON.stringify(reply).replaceAll(pin, guess)) as Fact;
  const told = outline(guessed);
  return (told.type === "item_committed" && told.reply?.calls[0]?.print) || "none";
}

test("the answers of steps, which a history keeps, show no argument to one who tries all there are", async () => {
  const { answers, facts, ran } = await play((request) => request);
  const hash = facts.find(isQuestion)?.hash ?? "none";

  expect(ran).toEqual([pin]);
  expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
  expect(new Set(pins.map((guess) => printOf(facts, guess))).size).toBeGreaterThan(9_990);
  expect(pins.filter((guess) => answers.includes(printOf(facts, guess)))).toEqual([]);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(answers).not.toContain(hash);
  expect(answers).not.toMatch(/[0-9a-f]{64}/);
});

test("a question that a workflow of an older version has by its hash is answered, and the call runs once", async () => {
  const { answers, facts, ran } = await play((request) => ({
    ...request,
    namesQuestions: undefined,
  }));

  expect(answers).toContain(facts.find(isQuestion)?.hash);
  expect(ran).toEqual([pin]);
  expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
});
