import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, Limits, RunResult, Tool } from "@millrace/agent";
import { createModelStream } from "@millrace/core/model";
import { callId, noUsage, parseArguments, partId } from "@millrace/core/writing";
import type { Fact, Model } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import { countingIds } from "@millrace/core/testing";
import { Random } from "../../kit/random.ts";
import { heldClock, rest, watched } from "./clock.ts";
import type { HeldClock } from "./clock.ts";
import { anyInput } from "./tools.ts";

/** Tokens and dollars of one reply. */
const replyTokens = 10;
const replyCost = 1;
/** Time passes in steps of this, so what ends by time ends so late at most. */
const tickMs = 500;
/** A tool that ignores its abort is abandoned after this long. */
const graceMs = 2_000;

/** The outcome of a run that never ends by itself. */
interface Runaway {
  readonly outcome: string;
  readonly requests: number;
  readonly wrong: readonly string[];
}

/**
 * One run of agents that never stop by themselves: models that always call tools, tools that poll,
 * sleep or ignore their abort, agents within agents. Returns which budget was overspent by more
 * than the step that was under way.
 */
export async function runaway(seed: number): Promise<Runaway> {
  const trial = new Trial(seed);
  return await trial.run();
}

class Trial {
  readonly #random: Random;
  readonly #clock: HeldClock = heldClock();
  readonly #limits: Limits;
  readonly #costly: boolean;
  #requests = 0;
  #under = 0;
  #mostUnder = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#limits = drawLimits(this.#random);
    this.#costly = this.#limits.cost !== undefined || this.#random.chance(0.3);
  }

  async run(): Promise<Runaway> {
    const clock = this.#clock;
    const random = this.#random;
    const makeId = countingIds();
    const store = memorySessionStore({ clock, makeId });
    const agent = this.#agent(1 + random.below(3), this.#limits);
    const session = await agent.open({ store, clock, makeId });
    const begun = clock.now();
    const run = session.send("go");
    const result = watched(run.result);
    for (let tick = 0; result() === undefined && tick < 4_000; tick += 1) {
      await rest();
      if (result() === undefined) clock.pass(tickMs);
    }
    const took = clock.now() - begun;
    const outcome = told(result());
    const wrong = outcome === undefined ? ["never ends"] : [];
    const found = await store.find(session.id);
    const facts = found === undefined ? [] : await store.read(found.uid);
    const closing = session.close();
    for (let round = 0; round < 3; round += 1) {
      await rest();
      clock.pass(6_000);
    }
    await closing;
    wrong.push(...this.#overspent(facts, took));
    return { outcome: outcome ?? "none", requests: this.#requests, wrong };
  }

  /** Each budget, against what was done and not what was recorded. */
  #overspent(facts: readonly Fact[], tookMs: number): readonly string[] {
    const { tokens, cost, turns, seconds, repeats } = this.#limits;
    // What was asked before the budget was used up may still be answered.
    const step = Math.max(1, this.#mostUnder);
    const spent = this.#requests * replyTokens;
    const wrong: string[] = [];
    if (tokens !== undefined && spent > tokens + step * replyTokens)
      wrong.push(`${spent} of ${tokens} tokens, with ${step} requests at once`);
    const dollars = this.#requests * replyCost;
    if (cost !== undefined && dollars > cost + step * replyCost)
      wrong.push(`${dollars} of ${cost} dollars, with ${step} requests at once`);
    const begun = facts.filter(({ type }) => type === "turn_started").length;
    if (turns !== undefined && begun > Math.max(1, turns)) wrong.push(`${begun} of ${turns} turns`);
    if (seconds !== undefined && tookMs > seconds * 1_000 + graceMs + 4 * tickMs)
      wrong.push(`${tookMs} ms of ${seconds} s`);
    const inRow = longestRow(facts);
    if (repeats !== undefined && inRow > Math.max(2, repeats))
      wrong.push(`${inRow} times the same call, of ${repeats}`);
    return wrong;
  }

  #agent(depth: number, limits: Limits): Agent {
    const random = this.#random;
    const tools: Tool[] = this.#tools();
    if (depth > 1) {
      for (let at = 1 + random.below(2); at > 0; at -= 1) {
        const own = { turns: 1 + random.below(random.chance(0.7) ? 4 : 12) };
        tools.push(this.#agent(depth - 1, own).asTool({ name: `sub_${at}`, description: "digs" }));
      }
    }
    return defineAgent({
      model: this.#model(tools.map(({ name }) => name)),
      tools,
      limits: { repeats: Infinity, turns: 12, ...limits },
      parallel: 1 + random.below(4),
      ...(this.#costly ? { price: () => replyCost } : {}),
    });
  }

  #tools(): Tool[] {
    const clock = this.#clock;
    const limits = { repeats: Infinity };
    return [
      defineTool({ name: "same", input: anyInput, run: () => "again" }),
      defineTool({ name: "poll", input: anyInput, limits, run: () => "not yet" }),
      defineTool({
        name: "sleep",
        input: anyInput,
        limits,
        run: async (_, { signal }) => await clock.sleep(3_000, signal),
      }),
      defineTool({
        name: "deaf",
        input: anyInput,
        limits: { ...limits, seconds: 4 },
        run: async () => await clock.sleep(50_000),
      }),
    ];
  }

  /** Asks for more and more, each time in other words or in the same. */
  #model(tools: readonly string[]): Model {
    const random = this.#random;
    const id = "never/ends";
    const slow = random.chance(0.5);
    return {
      id,
      stream: ({ signal }) =>
        createModelStream({
          model: id,
          signal,
          produce: async (writer) => {
            this.#requests += 1;
            this.#under += 1;
            this.#mostUnder = Math.max(this.#mostUnder, this.#under);
            if (slow) await this.#clock.sleep(700, writer.signal);
            for (let at = 1 + random.below(3); at > 0; at -= 1) {
              const tool = random.pick(tools);
              const input = tool.startsWith("sub_") ? `{"prompt":"${random.below(9)}"}` : "{}";
              const part = partId(`p${at}`);
              const called = { kind: "tool_call", callId: callId(`c${at}`), tool } as const;
              writer.emit({
                op: "commit_part",
                partId: part,
                part: { ...called, id: part, raw: input, ...parseArguments(input) },
              });
            }
            // Under way until what it used is stored, which is before everything rests.
            void rest().then(() => (this.#under -= 1));
            const usage = { ...noUsage, inputTokens: replyTokens - 2, outputTokens: 2 };
            return { stop: random.chance(0.1) ? "paused" : "tools", evidence: "said", usage };
          },
        }),
    };
  }
}

function told(result: RunResult | undefined): string | undefined {
  if (result?.outcome === "limited") return `limited by ${result.limit}`;
  return result?.outcome === "failed" ? `failed: ${result.error.message}` : result?.outcome;
}

/** Some of the limits, and always turns: without any other these end it. */
function drawLimits(random: Random): Limits {
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {};
  if (random.chance(0.4)) limits.tokens = random.below(150);
  if (random.chance(0.4)) limits.cost = random.below(15);
  limits.turns = random.below(random.chance(0.5) ? 6 : 20);
  if (random.chance(0.4)) limits.seconds = random.below(20);
  if (random.chance(0.4)) limits.repeats = random.below(5);
  return limits;
}

/** How often the same call of a tool that may not poll came in a row, at most. */
function longestRow(facts: readonly Fact[]): number {
  let longest = 0;
  let row = 0;
  for (const fact of facts) {
    if (fact.type !== "item_committed" || fact.item.author !== "model") continue;
    for (const part of fact.item.parts) {
      if (part.kind !== "tool_call") continue;
      row = part.tool === "same" ? row + 1 : 0;
      // The content of one reply is there before a stop can take effect.
      longest = Math.max(longest, row - (fact.item.parts.length - 1));
    }
  }
  return longest;
}
