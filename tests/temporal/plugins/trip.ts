/** A person who asks an example's workflow, and watches its session in the real client. */
import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import type { ClientSession } from "@millrace/client";
import type { Fact } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { sessionMemo } from "@millrace/temporal/plugin";
import type { WorkflowHandle } from "@temporalio/client";
import { serve } from "../../client/kit/served.ts";
import type { Cluster } from "../cluster.ts";

export const question = "What do I pack for Oslo?";
/** What the models of the examples write in the end. */
export const answer = "Pack a raincoat, and boots for the hills. ".repeat(20);

/** Serves sessions that others drive. */
const nobody = defineAgent({ respond: async () => undefined });

export class Trip implements AsyncDisposable {
  readonly session: ClientSession;
  readonly workflow: WorkflowHandle<() => Promise<string>>;
  /** Each text of the last reply that the screen has shown, in order. */
  readonly texts: readonly string[];
  readonly facts: () => Promise<readonly Fact[]>;
  readonly #started: AsyncDisposableStack;

  private constructor(
    parts: Pick<Trip, "session" | "workflow" | "texts" | "facts">,
    started: AsyncDisposableStack,
  ) {
    ({ session: this.session, workflow: this.workflow } = parts);
    ({ texts: this.texts, facts: this.facts } = parts);
    this.#started = started;
  }

  /** Sends the question over HTTP, and starts the workflow with the session's memo. */
  static async begin(cluster: Cluster, name: string, taskQueue: string): Promise<Trip> {
    await using started = new AsyncDisposableStack();
    const { log } = cluster;
    const driver = { wake: () => undefined };
    const { url } = started.use(await serve(nobody, { store: cluster.store, log, driver }));
    const client = started.use(createClient({ url, token: "ann" }));
    const session = client.session(name);
    const texts: string[] = [];
    session.subscribe(() => texts.push(lastText(session)));
    await session.send(question).accepted;
    const store = cluster.store.forTenant("acme");
    const record = await store.find(name);
    if (record === undefined) throw new Error("the session is not there");
    const workflow = await cluster.client.workflow.start<() => Promise<string>>("travel", {
      workflowId: name,
      taskQueue,
      args: [question] as never,
      memo: sessionMemo(record),
    });
    const facts = (): Promise<readonly Fact[]> => store.read(record.uid);
    return new Trip({ session, workflow, texts, facts }, started.move());
  }

  /** What the model writes now, or has written last. */
  get text(): string {
    return lastText(this.session);
  }

  /** How often the screen has shown less of the reply than before. */
  get restarts(): number {
    const isLess = (text: string, at: number): boolean =>
      text.length < (this.texts[at - 1]?.length ?? 0);
    return this.texts.filter(isLess).length;
  }

  /** What the screen shows: texts by their author, and calls with their state. */
  get screen(): readonly string[] {
    return this.session.items.flatMap(({ author, parts }) =>
      parts.map((part) => {
        if (part.kind === "text") return `${author}: ${part.text}`;
        return part.kind === "tool_call" ? `${part.tool}: ${part.state}` : part.kind;
      }),
    );
  }

  async replies(): Promise<readonly FactOf<"item_committed">[]> {
    return (await this.facts()).flatMap((fact) =>
      fact.type === "item_committed" && fact.item.author === "model" ? [fact] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started.disposeAsync();
  }
}

/** The text of the last item, if a model writes it. */
function lastText({ items }: ClientSession): string {
  const item = items.at(-1);
  if (item?.author !== "model") return "";
  return item.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}
