import { defineAgent, defineTool } from "@millrace/agent";
import type {
  Agent,
  AgentSettings,
  CustomAgentSettings,
  Observer,
  Session,
  Tool,
} from "@millrace/agent";
import { noUsage, partId } from "@millrace/core/writing";
import type { RunEvent } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import { call, callRaw, fail, say, scriptedModel, think, truncate } from "@millrace/core/testing";
import type { ScriptedPart, ScriptedReply } from "@millrace/core/testing";
import { z } from "zod";

/** A session that a stop is tried on at every event: an agent, one prompt, and what people do. */
export interface Script {
  readonly name: string;
  readonly agent: (observers: readonly Observer[]) => Agent;
  /** What a person does when an event comes. Not called once the stop was sent. */
  readonly react?: ((session: Session, event: RunEvent) => void) | undefined;
}

type Settings = Omit<AgentSettings<readonly Tool[]>, "model">;

const input = z.object({ what: z.string().optional() });
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const look = defineTool({ name: "look", input, effect: "pure", run: () => "seen" });
const slow = defineTool({ name: "slow", input, run: () => later(1).then(() => "done") });
const broken = defineTool({
  name: "broken",
  input,
  run: () => {
    throw new Error("it is broken");
  },
});
const talks = defineTool({
  name: "talks",
  input,
  run: async (_, { append, progress }) => {
    append("one ");
    progress({ message: "half" });
    await later(0);
    append("two");
    return "three";
  },
});
const pay = defineTool({ name: "pay", input, approve: "ask", run: () => "paid" });
const alone = defineTool({ name: "alone", input, sequence: "alone", run: () => "alone" });
const pick = defineTool({ name: "pick", input, output: z.string(), run: "client" });
const all = [look, slow, broken, talks, pay, alone, pick];

/** An agent with a model that follows a script, with all tools. */
function scripted(
  name: string,
  replies: readonly ScriptedReply[],
  settings: Settings = {},
  react?: Script["react"],
): Script {
  return {
    name,
    agent: (observers) =>
      defineAgent({
        retry: { attempts: 3, baseMs: 1, capMs: 1 },
        ...settings,
        model: scriptedModel(replies),
        tools: [...all, ...(settings.tools ?? [])],
        observers,
      }),
    react,
  };
}

/** An agent that writes by itself. */
function custom(name: string, respond: CustomAgentSettings["respond"]): Script {
  return { name, agent: (observers) => defineAgent({ respond, observers }) };
}

/** An agent with another one as its tool. Both are observed, so that a stop falls in either. */
function nested(name: string, inner: readonly ScriptedReply[], react?: Script["react"]): Script {
  return {
    name,
    agent: (observers) => {
      const child = defineAgent({ model: scriptedModel(inner), tools: all, observers });
      const helper = child.asTool({ name: "helper", description: "Helps" });
      const model = scriptedModel([[call("helper", { prompt: "help" })], done]);
      return defineAgent({ model, tools: [helper], observers });
    },
    react,
  };
}

const does = (tool: string, callId: string): ScriptedPart => call(tool, {}, { callId });
const done = [say("Done.")];
const busy = fail("overloaded", "too busy", { retryable: true });
const used = { usage: { ...noUsage, inputTokens: 900 } };
const context = { window: 1_000, compactAbove: 0.5, keep: 1 };

const allow: Script["react"] = (session, event) => {
  if (event.type === "approval_requested") session.allow(event.approvalId);
};
const deny: Script["react"] = (session, event) => {
  if (event.type === "approval_requested") session.deny(event.approvalId, "no");
};
const answer =
  (given: unknown): Script["react"] =>
  (session, event) => {
    if (event.type === "tool_execution_started" && event.tool === "pick")
      session.answer(event.callId, given);
  };
const steerOnce =
  (type: RunEvent["type"], way: "steer" | "followUp"): Script["react"] =>
  (session, event) => {
    if (event.type === type) session[way]("and this", { key: "once" });
  };

async function* updates(...texts: readonly string[]): AsyncGenerator<Update> {
  for (const [index, text] of texts.entries()) {
    const id = partId(`p${index}`);
    yield { op: "begin_part", partId: id, kind: "text" };
    yield { op: "append_text", partId: id, chunk: text };
    yield { op: "commit_part", partId: id, part: { kind: "text", id, text } };
  }
}

const plain: readonly Script[] = [
  scripted("a text", [[say("Hello.")]]),
  scripted("a text in three pieces", [[say("One "), say("two "), say("three.")]]),
  scripted("reasoning and a text", [[think("Hm."), say("Hello.")]]),
  scripted("a reply that is cut at its length", [[say("Hel"), { end: { stop: "length" } }]]),
  scripted("a reply that is filtered", [[say("Hel"), { end: { stop: "filtered" } }]]),
  scripted("a paused reply", [[say("Wait."), { end: { stop: "paused" } }], done]),
  scripted("an attempt that failed", [[say("Hel"), busy], done]),
  scripted("two attempts that failed", [[busy], [say("Hel"), busy], done]),
  scripted("a reply that fails for good", [[fail("refused", "no")]]),
  scripted("a reply whose end never comes", [[say("Hel"), truncate()], done]),
];

const calls: readonly Script[] = [
  scripted("one call", [[does("look", "c1")], done]),
  scripted("a text and a call", [[say("Let me see."), does("look", "c1")], done]),
  scripted("two calls at once", [[does("look", "c1"), does("slow", "c2")], done]),
  scripted("three calls at once", [
    [does("slow", "c1"), does("slow", "c2"), does("slow", "c3")],
    done,
  ]),
  scripted("two calls, one at a time", [[does("slow", "c1"), does("slow", "c2")], done], {
    parallel: 1,
  }),
  scripted("a call that runs alone", [[does("alone", "c1"), does("look", "c2")], done]),
  scripted("a call that fails", [[does("broken", "c1")], done]),
  scripted("a call with output and progress", [[does("talks", "c1")], done]),
  scripted("a call of no tool", [[does("gone", "c1")], done]),
  scripted("a call with broken arguments", [[callRaw("look", '{"what":', { callId: "c1" })], done]),
  scripted("three turns of calls", [
    [does("look", "c1")],
    [does("slow", "c2")],
    [does("look", "c3")],
    done,
  ]),
  scripted("calls up to a limit", [[does("look", "c1")], [does("look", "c2")], done], {
    limits: { turns: 1 },
  }),
  scripted("a retry after a call", [[does("look", "c1")], [say("Hel"), busy], done]),
];

const people: readonly Script[] = [
  scripted("a call that is allowed", [[does("pay", "c1")], done], {}, allow),
  scripted("a call that is denied", [[does("pay", "c1")], done], {}, deny),
  scripted("two questions at once", [[does("pay", "c1"), does("pay", "c2")], done], {}, allow),
  scripted("a question beside a call", [[does("pay", "c1"), does("slow", "c2")], done], {}, allow),
  scripted("a call that a client answers", [[does("pick", "c1")], done], {}, answer("red")),
  scripted("a call that a client fails", [[does("pick", "c1")], done], {}, answer({ error: "no" })),
  scripted(
    "a client beside a call",
    [[does("pick", "c1"), does("look", "c2")], done],
    {},
    answer("red"),
  ),
  scripted(
    "a steer within a call",
    [[does("slow", "c1")], done],
    {},
    steerOnce("tool_execution_started", "steer"),
  ),
  scripted("a steer within a text", [[say("One.")], done], {}, steerOnce("turn_started", "steer")),
  scripted("a follow-up", [[say("One.")], done], {}, steerOnce("turn_started", "followUp")),
  scripted("a compaction", [[used, does("look", "c1")], [say("So far.")], done], { context }),
  scripted("a compaction that fails", [[used, does("look", "c1")], [fail("refused", "no")], done], {
    context,
  }),
  scripted(
    "a compaction that is retried",
    [[used, does("look", "c1")], [busy], [say("So far.")], done],
    { context },
  ),
];

const agents: readonly Script[] = [
  custom("an item by hand", async (run) => {
    await run.write("Hello.");
  }),
  custom("two items by hand", async (run) => {
    await run.write("One.");
    await run.write(async (item) => {
      item.append("Tw");
      await later(0);
      item.append("o.");
    });
  }),
  custom("two items of a function that ignores its signal", async (run) => {
    await run.write(async (item) => {
      item.append("On");
      await later(5);
      item.append("e.");
    });
    await run.write("Two.");
  }),
  custom("an item that is replaced", async (run) => {
    await run.write(async (item) => {
      item.append("Draft");
      await later(0);
      void item.replace("Final.");
    });
  }),
  custom("work without an item", async () => {
    await later(1);
  }),
  custom("yielded updates", () => updates("One.", "Two.")),
  nested("a sub-agent", [[say("Helped.")]]),
  nested("a sub-agent with a call", [[does("slow", "k1")], [say("Helped.")]]),
];

export const scripts: readonly Script[] = [...plain, ...calls, ...people, ...agents];
