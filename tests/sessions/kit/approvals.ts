import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, Schema, Session } from "@millrace/agent";
import { approvalId } from "@millrace/core/writing";
import type { Fact, JsonObject, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import type { FactOf } from "@millrace/core/writing";
import { memorySessionStore } from "@millrace/core/memory";
import { call, countingIds, say, scriptedModel } from "@millrace/core/testing";
import { Random } from "../../kit/random.ts";
import { approvalHash } from "../../../packages/agent/src/tool/hash.ts";
import { heldClock, rest, steps } from "./clock.ts";
import type { HeldClock } from "./clock.ts";
import type { Tally } from "./world.ts";

/** The tool's description, which may change while a question is open. */
interface Variant {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

const variants: readonly Variant[] = [
  { name: "refund", description: "Gives money back", schema: { type: "object" } },
  { name: "refund", description: "Gives money back.", schema: { type: "object" } },
  { name: "refund", description: "Gives money back", schema: { type: "object", title: "x" } },
  { name: "refunds", description: "Gives money back", schema: { type: "object" } },
];
const approvalTimeoutMs = 50_000;

/** One run that asks whether it may, with people and processes that do everything wrong. */
export async function approve(seed: number, tally: Tally): Promise<readonly string[]> {
  return await new Trial(seed, tally).run();
}

interface Execution {
  readonly variant: Variant;
  /** Names the session and the reserved id of the answer. */
  readonly effectKey: string;
  readonly callId: string;
  readonly input: JsonObject;
}

class Trial {
  readonly #random: Random;
  readonly #tally: Tally;
  readonly #clock: HeldClock = heldClock();
  readonly #makeId = countingIds();
  readonly #store: SessionStore;
  readonly #agents: readonly Agent[];
  readonly #executions: Execution[] = [];
  readonly #sessions: Session[] = [];
  readonly #known: string[] = ["approval_other"];

  constructor(seed: number, tally: Tally) {
    this.#random = new Random(seed);
    this.#tally = tally;
    this.#store = memorySessionStore({ clock: this.#clock, makeId: this.#makeId });
    this.#agents = variants.map((variant) => this.#agent(variant));
  }

  async run(): Promise<readonly string[]> {
    const random = this.#random;
    await this.#open(0);
    this.#here().send("refund A1");
    for (let left = 3 + random.below(12); left > 0; left -= 1) {
      if (random.chance(0.7)) await rest();
      else await steps(random.below(20));
      await this.#happen();
    }
    for (let round = 0; round < 30; round += 1) {
      await rest();
      if (this.#here().status === "idle") break;
      this.#clock.pass(5_000);
    }
    const found = await this.#store.find(this.#here().id);
    const facts = found === undefined ? [] : await this.#store.read(found.uid);
    const wrong = found === undefined ? ["no session"] : await this.#check(found.uid, facts);
    for (const session of this.#sessions) await this.#close(session);
    return wrong;
  }

  #agent(variant: Variant): Agent {
    const { name, description } = variant;
    const input: Schema<object, JsonObject> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => ({ value: value as JsonObject }),
        jsonSchema: { input: () => variant.schema, output: () => ({}) },
      },
    };
    const tool = defineTool({
      name,
      description,
      input,
      approve: (seen) => {
        // What a policy changes in what it is shown must not reach the tool.
        (seen as { cents?: number }).cents = 1;
        return "ask";
      },
      run: (given, { callId, effectKey }) => {
        this.#executions.push({ variant, effectKey, callId, input: structuredClone(given) });
        (given as { cents?: number }).cents = 1;
        return "done";
      },
    });
    const asked = [call("refund", { cents: 9_000 }, { callId: "c1" })];
    const more = [...asked, call("refund", { cents: 5 }, { callId: "c2" })];
    const model = scriptedModel(
      Array.from(
        { length: 40 },
        (_, at) => () => (at % 3 === 2 ? [say("ok")] : at % 2 === 0 ? asked : more),
      ),
      { clock: this.#clock, chunk: "whole" },
    );
    return defineAgent({
      model,
      tools: [tool],
      approvalTimeoutMs,
      limits: { turns: 3 },
    });
  }

  #here(): Session {
    return this.#sessions.at(-1) as Session;
  }

  async #open(variant: number): Promise<void> {
    const agent = this.#agents[variant] as Agent;
    const store = { ...this.#store };
    const ports = { store, clock: this.#clock, makeId: this.#makeId };
    this.#sessions.push(await agent.open({ id: "s", ...ports }));
  }

  async #close(session: Session): Promise<void> {
    const closing = session.close();
    await rest();
    this.#clock.pass(6_000);
    await closing;
  }

  async #happen(): Promise<void> {
    const random = this.#random;
    const { approvals } = this.#here();
    for (const { id } of approvals) if (!this.#known.includes(id)) this.#known.push(id);
    const draw = random.below(100);
    if (draw < 25) this.#say("allow", random.pick(this.#known));
    else if (draw < 45 && approvals.length > 0) this.#say("allow", random.pick(approvals).id);
    else if (draw < 55 && approvals.length > 0) {
      const { id } = random.pick(approvals);
      this.#count("two at once");
      this.#say("allow", id);
      this.#say("deny", id);
    } else if (draw < 60) this.#say("deny", random.pick(this.#known));
    else if (draw < 65) void this.#here().abort();
    else if (draw < 80) {
      if (random.chance(0.5)) await this.#close(this.#here());
      const variant = random.below(variants.length);
      this.#count(variant === 0 ? "taken up" : "taken up with another tool");
      await this.#open(variant);
    } else if (draw < 85) void this.#here().send("refund again");
    else this.#clock.pass(random.pick([1_000, 20_000, 49_000, 51_000]));
  }

  /** By a client, in this process or in another one. */
  #say(decision: "allow" | "deny", id: string): void {
    const session = this.#random.pick(this.#sessions);
    this.#count(decision);
    if (decision === "allow") void session.allow(approvalId(id));
    else void session.deny(approvalId(id));
  }

  #count(what: string): void {
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1);
  }

  /** Each execution against what was asked and answered before it, by the facts. */
  async #check(uid: SessionUid, facts: readonly Fact[]): Promise<readonly string[]> {
    const wrong: string[] = [];
    const intents = facts.filter((fact) => fact.type === "tool_execution_started");
    if (intents.length < this.#executions.length) wrong.push("more executions than intents");
    const used = new Set<string>();
    for (const intent of intents) {
      this.#count("intent");
      const asked = facts.findLast(
        (fact): fact is FactOf<"approval_requested"> =>
          fact.type === "approval_requested" && fact.n < intent.n && isFor(fact, intent),
      );
      if (asked === undefined) {
        wrong.push(`${intent.callId} runs unasked`);
        continue;
      }
      const answer = facts.find(
        (fact): fact is FactOf<"approval_resolved"> =>
          fact.type === "approval_resolved" && fact.approvalId === asked.approvalId,
      );
      if (answer?.decision !== "allow" || answer.n > intent.n) wrong.push("runs without a yes");
      else if (answer.time > asked.time + approvalTimeoutMs) wrong.push("a yes came too late");
      if (intent.hash !== asked.hash || answer?.hash !== asked.hash) wrong.push("another hash");
      if (used.has(asked.approvalId)) wrong.push("one yes was used twice");
      used.add(asked.approvalId);
      // The process that runs it knows one variant: that of the hash.
      const { runId, callId, itemId, input } = intent;
      const hashes = await Promise.all(
        variants
          .filter(({ name }) => name === intent.tool)
          .map(async (variant) => ({ variant, hash: await hashOf(variant) })),
      );
      const meant = hashes.find(({ hash }) => hash === asked.hash)?.variant;
      const ran = this.#executions.filter((one) => one.effectKey === `${uid}_${itemId}`);
      if (meant === undefined) wrong.push("asked about something else");
      if (ran.length > 1) wrong.push("ran twice");
      for (const { variant } of ran)
        if (variant !== meant) wrong.push(`${variant.description} ran, and was not asked about`);

      async function hashOf({ name, description, schema }: Variant): Promise<string> {
        const subject = { uid, runId, callId, itemId, tool: name, input };
        return await approvalHash({ ...subject, description, inputSchema: schema });
      }
    }
    for (const { input, callId } of this.#executions) {
      const cents = callId === "c1" ? 9_000 : 5;
      if (input["cents"] !== cents) wrong.push(`ran with ${JSON.stringify(input)}`);
    }
    return wrong;
  }
}

function isFor(
  asked: FactOf<"approval_requested">,
  intent: FactOf<"tool_execution_started">,
): boolean {
  return asked.turnId === intent.turnId && asked.callId === intent.callId;
}
