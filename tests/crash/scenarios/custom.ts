import { defineAgent } from "@millrace/agent";
import type { ActiveRun } from "@millrace/agent";
import { partId } from "@millrace/core/writing";
import type { Update } from "@millrace/core/writing";
import { call, say } from "@millrace/core/testing";
import { wait } from "../kit/model.ts";
import type { Scenario, Stage } from "../scenario.ts";

const go = [{ do: "send", text: "go" }] as const;

/** Two items as updates. */
async function* twoItems({ boundaries }: Stage): AsyncGenerator<Update, void> {
  for (const text of ["the first", "the second"]) {
    const id = partId("p1");
    yield { op: "begin_part", partId: id, kind: "text" };
    boundaries.cross("within an agent's own code");
    yield { op: "append_text", partId: id, chunk: text };
    yield { op: "commit_part", partId: id, part: { kind: "text", id, text } };
    boundaries.cross("within an agent's own code");
    yield { op: "commit_item", stop: "end" };
  }
}

/** Items without beginnings and endings; the first one is replaced, and late updates follow. */
async function* replacing({ boundaries }: Stage): AsyncGenerator<Update, void> {
  const id = partId("p1");
  yield { op: "append_text", partId: id, chunk: "a draft" };
  boundaries.cross("within an agent's own code");
  yield { op: "replace_item", content: "the whole", metadata: { sources: 1 } };
  boundaries.cross("within an agent's own code");
  yield { op: "append_text", partId: id, chunk: " too late" };
  yield { op: "append_text", partId: partId("p2"), chunk: "the next" };
  boundaries.cross("within an agent's own code");
}

/** One item that is whole, and one that an illegal update ends. */
async function* illegal({ boundaries }: Stage): AsyncGenerator<Update, void> {
  const id = partId("p1");
  yield { op: "append_text", partId: id, chunk: "a text" };
  yield { op: "commit_item", stop: "end" };
  boundaries.cross("within an agent's own code");
  yield { op: "append_text", partId: id, chunk: "half" };
  boundaries.cross("within an agent's own code");
  yield { op: "append_bytes", partId: id, chunk: Uint8Array.of(1) };
}

/** Agents that write their items by themselves, and branches. */
export const customScenarios: readonly Scenario[] = [
  {
    name: "an agent that yields",
    agent: (stage) => defineAgent({ respond: () => twoItems(stage) }),
    script: [...go, { do: "send", text: "go on", when: { idle: 0 } }],
  },
  {
    name: "an agent that replaces what it yielded",
    agent: (stage) => defineAgent({ respond: () => replacing(stage) }),
    script: [...go, { do: "send", text: "go on", when: { idle: 0 } }],
  },
  {
    name: "an agent that yields an illegal update",
    agent: (stage) => defineAgent({ respond: () => illegal(stage) }),
    script: go,
  },
  {
    name: "an agent that writes what a model says",
    agent: ({ model }) => {
      const own = model({ go: [say("first")], first: [say("second")] });
      const respond = async (run: ActiveRun): Promise<void> => {
        await run.write(own.stream(run.request));
        await run.write(own.stream(run.request));
      };
      return defineAgent({ respond });
    },
    script: go,
  },
  {
    name: "an agent that writes by hand",
    agent: ({ boundaries }) => {
      const respond = async (run: ActiveRun): Promise<void> => {
        await run.write("a text");
        await run.write(async (item) => {
          item.append("some");
          boundaries.cross("within an agent's own code");
          item.append("thing");
          item.annotate({ source: "here" });
        });
        await run.write((item) => {
          item.append("a draft");
          boundaries.cross("within an agent's own code");
          void item.replace("the whole");
        });
      };
      return defineAgent({ respond });
    },
    script: go,
  },
  {
    name: "an agent that writes two items at once",
    agent: ({ boundaries }) => {
      const respond = async ({ write }: ActiveRun): Promise<void> => {
        const both = ["one", "two"].map((text) =>
          write(async (item) => {
            for (const letter of text) item.append(letter);
            boundaries.cross("within an agent's own code");
          }),
        );
        await Promise.all(both);
      };
      return defineAgent({ respond });
    },
    script: go,
  },
  {
    name: "an agent that throws midway",
    agent: ({ boundaries }) => {
      const respond = async ({ write }: ActiveRun): Promise<void> => {
        await write("a text");
        await write((item) => {
          item.append("half");
          boundaries.cross("within an agent's own code");
          throw new Error("out of words");
        });
      };
      return defineAgent({ respond });
    },
    script: go,
  },
  {
    name: "an agent that is stopped while it writes",
    agent: ({ gates }) => {
      const respond = async ({ write, signal }: ActiveRun): Promise<void> => {
        await write("a text");
        await write(async (item) => {
          item.append("half");
          await gates.pass("stopped", signal);
          if (!signal.aborted) item.append(" and half");
        });
      };
      return defineAgent({ respond });
    },
    script: [...go, { do: "abort", when: { waits: "stopped" } }],
  },
  {
    name: "a branch of a session that is at rest",
    agent: ({ model, tool }) =>
      defineAgent({
        model: model({
          go: [call("pay", { what: "a" }, { callId: "c1" })],
          c1: [say("paid")],
          other: [say("another way")],
        }),
        tools: [tool({ name: "pay" })],
      }),
    script: [...go, { do: "fork", item: 3, as: "branch", text: "other", when: { idle: 0 } }],
  },
  {
    name: "a branch in the middle of a run",
    agent: ({ model, tool }) =>
      defineAgent({
        model: model({
          go: [
            call("put", { what: "a" }, { callId: "c1" }),
            call("pay", { what: "b" }, { callId: "c2" }),
          ],
          c2: [say("paid"), wait("said", 1)],
          more: [say("more")],
          other: [say("another way")],
        }),
        tools: [tool({ name: "pay" }), tool({ name: "put", effect: "idempotent" })],
      }),
    script: [
      ...go,
      { do: "followUp", text: "more", when: { waits: "said" }, opens: "said" },
      { do: "fork", item: 1, as: "branch", text: "other", when: { idle: 0 } },
    ],
  },
];
