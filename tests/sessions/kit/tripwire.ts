import { isDeepStrictEqual } from "node:util";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Schema } from "@millrace/agent";
import type { Fact } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import { countingIds } from "@millrace/core/testing";
import { Random } from "../../kit/random.ts";
import { defaultJsonLimits } from "../../../packages/core/src/json.ts";
import { documentedRefusals, tryParse } from "../../../packages/core/src/testing/json-oracle.ts";
import { heldClock, rest, watched } from "./clock.ts";
import { HostileModel } from "./hostile.ts";
import type { RawReply } from "./hostile.ts";

interface WireInput {
  readonly path: string;
  readonly ask?: boolean;
}

const told = {
  type: "object",
  properties: { path: { type: "string" }, ask: { type: "boolean" } },
  required: ["path"],
  additionalProperties: false,
};

const wireInput: Schema<object, WireInput> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => (isWireInput(value) ? { value } : { issues: [{ message: "not so" }] }),
    jsonSchema: { input: () => told, output: () => told },
  },
};

function isWireInput(value: unknown): value is WireInput {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { path, ask, ...rest } = value as Record<string, unknown>;
  const sound = typeof path === "string" && (ask === undefined || typeof ask === "boolean");
  return sound && Object.keys(rest).length === 0;
}

/** What came of letting a hostile model loose on a tool. */
interface Trip {
  readonly turns: number;
  readonly executions: number;
  readonly wrong: readonly string[];
}

/** One run of a hostile model, with a tool that knows when it may run. */
export async function trip(seed: number, turns: number): Promise<Trip> {
  const random = new Random(seed);
  const model = new HostileModel(seed);
  const clock = heldClock();
  const wrong: string[] = [];
  const executed = new Set<string>();
  const allowed = new Set<string>();
  let executions = 0;
  const run = (input: WireInput, name: string, callId: string): string => {
    executions += 1;
    const key = `${model.replies} ${callId}`;
    if (executed.has(key)) wrong.push(`${key} runs twice`);
    executed.add(key);
    const fault = whyNot(model.said, { name, callId, input, allowed: allowed.has(key) });
    if (fault !== undefined) wrong.push(`${key}: ${fault}`);
    return "tripped";
  };
  const tools = ["tripwire", "other"].map((name) =>
    defineTool({
      name,
      input: wireInput,
      limits: { repeats: Infinity },
      approve: ({ ask }) => (ask === true ? "ask" : "allow"),
      run: (input, { callId }) => run(input, name, callId),
    }),
  );
  const agent = defineAgent({
    model,
    tools,
    limits: { turns, repeats: Infinity },
    hooks: {
      beforeReply: (request) => {
        const offered = request.tools?.filter(() => random.chance(0.9)) ?? [];
        return { ...request, tools: offered };
      },
    },
  });
  const makeId = countingIds();
  const store = memorySessionStore({ clock, makeId });
  const session = await agent.open({ store, clock, makeId });
  while (model.replies < turns && wrong.length === 0) {
    const sent = session.send("go", {
      ask: ({ callId }) => {
        const yes = random.chance(0.5);
        if (yes) allowed.add(`${model.replies} ${callId}`);
        return yes ? "allow" : "deny";
      },
    });
    const result = watched(sent.result);
    for (let round = 0; round < 1_000 && result() === undefined; round += 1) await rest();
    if (result() === undefined) wrong.push("the run does not end");
  }
  wrong.push(...unproven(await store.read((await store.find(session.id))?.uid as never)));
  await session.close();
  return { turns: model.replies, executions, wrong };
}

interface Execution {
  readonly name: string;
  readonly callId: string;
  readonly input: WireInput;
  readonly allowed: boolean;
}

/** Why a tool should not have run, by what the model emitted and not by how it was parsed. */
function whyNot(said: RawReply, { name, callId, input, allowed }: Execution): string | undefined {
  if (said.stop !== "tools") return `the reply ended as ${said.stop}`;
  const call = said.calls.find((one) => one.callId === callId);
  if (call === undefined) return "nobody asked for it";
  if (call.tool !== name) return `${call.tool} was asked for, and ${name} ran`;
  if (!said.offered.has(name)) return "it was not offered in this turn";
  if (!call.whole) return "the call was never finished";
  const parsed = tryParse(call.raw);
  if (parsed === undefined) return "the arguments are not JSON";
  const refusals = [...documentedRefusals(call.raw, defaultJsonLimits)];
  if (refusals.length > 0) return `the arguments are refused: ${refusals.join()}`;
  if (!isWireInput(parsed.value)) return "the arguments have not the tool's shape";
  if (!isDeepStrictEqual(parsed.value, input)) return "it ran with other arguments";
  return input.ask === true && !allowed ? "nobody allowed it" : undefined;
}

/** Executions without an intent before and a settlement after them, by the facts. */
function unproven(facts: readonly Fact[]): readonly string[] {
  const open = new Set<string>();
  const wrong: string[] = [];
  for (const fact of facts) {
    if (fact.type === "tool_execution_started") open.add(`${fact.turnId} ${fact.callId}`);
    if (fact.type !== "tool_execution_finished") continue;
    if (!open.delete(`${fact.turnId} ${fact.callId}`)) wrong.push(`${fact.callId} was never begun`);
  }
  return [...wrong, ...[...open].map((key) => `${key} has no settlement`)];
}
