import { MillraceError } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import type { AgentSettings } from "../definition/settings.ts";
import { defineTool } from "../definition/tool.ts";
import type { Tool } from "../definition/tool.ts";

const input = z.object({});

/** Three tools with one label each, one without, and the names of those that ran. */
function labelled(): { readonly tools: readonly Tool[]; readonly ran: string[] } {
  const ran: string[] = [];
  const run = (name: string) => (): string => {
    ran.push(name);
    return "done";
  };
  const inbox = { name: "inbox", labels: ["reads_private"] } as const;
  const page = { name: "page", labels: ["sees_untrusted"] } as const;
  const post = { name: "post", labels: ["acts_outside"] } as const;
  const tools = [inbox, page, post, { name: "add" }].map((tool) =>
    defineTool({ ...tool, input, run: run(tool.name) }),
  );
  return { tools, ran };
}

/** Runs turns with these calls in one run, denies each question, and returns what was asked and what ran. */
async function runTurns(
  turns: readonly (readonly string[])[],
  settings: Partial<AgentSettings<readonly Tool[]>> = {},
): Promise<{ readonly asked: readonly string[]; readonly ran: readonly string[] }> {
  const { tools, ran } = labelled();
  const asked: string[] = [];
  const calls = turns.map((names) => names.map((name) => call(name, {})));
  const agent = defineAgent({
    model: scriptedModel([...calls, [say("done")]]),
    tools,
    ...settings,
  });
  const run = agent.run("go", {
    ask: ({ tool }) => {
      asked.push(tool);
      return "deny";
    },
  });
  await run.result;
  return { asked, ran };
}

describe("a session with all three labels", () => {
  it.each([
    [["inbox"], ["page"], ["post"]],
    [["post"], ["inbox"], ["page"]],
    [["page"], ["post"], ["inbox"]],
  ])("asks before the call that completes them: %j, %j, %j", async (...turns) => {
    const { asked, ran } = await runTurns(turns);

    expect(asked).toEqual(turns[2]);
    expect(ran).toEqual([...turns[0], ...turns[1]]);
  });

  it("asks for all calls of one reply that complete them together", async () => {
    const { asked, ran } = await runTurns([["inbox", "page", "post", "add"]]);

    expect(asked.toSorted()).toEqual(["inbox", "page", "post"]);
    expect(ran).toEqual(["add"]);
  });

  it("does not ask for two of them, nor for a tool without a label", async () => {
    const turns = [["inbox"], ["post"], ["add"], ["post", "inbox"], ["add"]];

    expect((await runTurns(turns)).asked).toEqual([]);
  });

  it("counts no call that did not run", async () => {
    const policy = [{ tool: "page", policy: "deny" }] as const;

    expect((await runTurns([["inbox"], ["page"], ["post"]], { policy })).asked).toEqual([]);
  });

  it("asks nothing where the agent allows it", async () => {
    const { asked, ran } = await runTurns([["inbox"], ["page"], ["post"]], { allLabels: "allow" });

    expect({ asked, ran }).toEqual({ asked: [], ran: ["inbox", "page", "post"] });
  });

  it("asks in a later run and in a later process, because the transcript holds what was read", async () => {
    const ports = { id: "mail", store: memorySessionStore(), log: memoryEventLog() };
    const { tools, ran } = labelled();
    const first = scriptedModel([[call("inbox", {})], [call("page", {})], [say("read")]]);
    const second = scriptedModel([[call("post", {})], [say("sent")]]);

    {
      await using session = await defineAgent({ model: first, tools }).open(ports);
      await session.send("read my mail and that page").result;
    }
    await using session = await defineAgent({ model: second, tools }).open(ports);
    const run = session.send("post it");
    const { approvalId, tool } = await run.until("approval_requested");

    expect({ tool, ran: [...ran] }).toEqual({ tool: "post", ran: ["inbox", "page"] });
    session.allow(approvalId);
    expect((await run.result).outcome).toBe("completed");
    expect(ran).toEqual(["inbox", "page", "post"]);
  });

  it("counts a tool that the agent no longer has as one with all labels", async () => {
    const ports = { id: "mail", store: memorySessionStore(), log: memoryEventLog() };
    const { tools } = labelled();
    const [inbox] = tools;
    const post = tools.filter(({ name }) => name === "post");
    const first = scriptedModel([[call("inbox", {})], [say("read")]]);
    const second = scriptedModel([[call("post", {})], [say("sent")]]);

    {
      await using session = await defineAgent({
        model: first,
        tools: inbox === undefined ? [] : [inbox],
      }).open(ports);
      await session.send("read").result;
    }
    await using session = await defineAgent({ model: second, tools: post }).open(ports);
    const run = session.send("post it");

    expect((await run.until("approval_requested")).tool).toBe("post");
  });

  it("counts a sub-agent by the labels of its tools", () => {
    const { tools } = labelled();
    const agent = defineAgent({ model: scriptedModel([]), tools });

    expect(agent.asTool({ name: "clerk", description: "Does it" }).labels).toEqual([
      "reads_private",
      "sees_untrusted",
      "acts_outside",
    ]);
  });
});

it("a label that there is not is a broken definition", () => {
  const labels = ["private"] as unknown as readonly ["reads_private"];

  expect(() => defineTool({ name: "odd", input, labels, run: () => 1 })).toThrow(MillraceError);
});
