/** One session by a seed against a vendor that enforces its rules: what is asked, and what changes between. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type {
  AcceptedRequest,
  PlainReply,
  StrictVendor,
  VendorHttpResponse,
} from "@millrace/conformance/vendors";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { startVendorServer } from "@millrace/providers/testing";
import type { VendorReply } from "@millrace/providers/testing";
import { z } from "zod";
import { Random } from "../kit/random.ts";
import type { VendorTarget } from "./vendors.ts";

/** What happens with one question. */
const plainKinds = [
  "plain",
  "calls",
  "parallel calls",
  "long result",
  "other words",
  "a date",
  "a note",
  "a tool more",
  "a tool less",
  "a shape",
  "a pause",
  "another model",
  "shorter results",
] as const;
const faultKinds = ["an abort", "a cut", "an error", "a steer"] as const;
type Kind = (typeof plainKinds)[number] | (typeof faultKinds)[number];

export interface PlayedSession {
  readonly vendor: StrictVendor;
  /** What was sent, and how it ended; what was meant to fail is not among them. */
  readonly sends: readonly {
    readonly kind: Kind;
    readonly outcome: string;
    readonly why: string;
  }[];
}

export interface PlayOptions {
  readonly net: "drop_block" | "error";
  readonly hasFaults: boolean;
}

const doc = "All work and no play makes a model dull. ".repeat(20);
const sendsOfSession = 10;

/** Where the session stands: what the next process will make its agent of. */
interface Deployed {
  words: string;
  tools: readonly string[];
  model: string;
  outputBytes: number;
}

export async function playSession(
  seed: number,
  target: VendorTarget,
  { net, hasFaults }: PlayOptions,
): Promise<PlayedSession> {
  const random = new Random(seed);
  let now = 0;
  const vendor = target.open({ now: () => now });
  const script = new Script(random);
  await using server = await startVendorServer({
    replies: (request) => {
      now += 5_000;
      return script.reply(() => vendor.answer(request, (accepted) => script.say(accepted)));
    },
  });
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const window = random.pick([undefined, undefined, 12_000]);
  const deployed: Deployed = {
    words: `You help. ${doc}`,
    tools: ["weather", "big"],
    model: target.models[0] ?? "",
    outputBytes: 65_536,
  };
  const sends: { kind: Kind; outcome: string; why: string }[] = [];
  for (let number = 1; number <= sendsOfSession; number += 1) {
    const kind = random.pick<Kind>([
      ...plainKinds,
      "plain",
      "calls",
      ...(hasFaults ? faultKinds : []),
    ]);
    change(deployed, kind, number, target, random);
    script.begin(kind);
    const agent = agentOf(
      deployed,
      kind,
      number,
      (name) => target.model(name, server.url, net),
      window,
    );
    await using session = await agent.open({ id: "s", store, log });
    const shape =
      kind === "a shape" ? { output: z.object({ a: z.record(z.string(), z.number()) }) } : {};
    const run = session.send(`Question ${number}`, shape);
    script.stop = () => void run.abort();
    if (kind === "a steer") session.steer("In Fahrenheit, please.");
    const result = await run.result;
    const isMeant = ["an abort", "a cut", "an error"].includes(kind);
    if (isMeant && result.outcome !== "completed") continue;
    const why = result.outcome === "failed" ? (result.cause?.message ?? "") : "";
    sends.push({ kind, outcome: result.outcome, why });
  }
  return { vendor, sends };
}

/** What a deploy before the question changes. */
function change(
  deployed: Deployed,
  kind: Kind,
  number: number,
  { models }: VendorTarget,
  random: Random,
): void {
  if (kind === "other words") deployed.words = deployed.words.replace("You", "You gladly");
  if (kind === "a tool more") deployed.tools = [...deployed.tools, `t${number}`];
  if (kind === "a tool less")
    deployed.tools = deployed.tools.filter((name) => !name.startsWith("t"));
  if (kind === "another model") deployed.model = random.pick(models);
  if (kind === "shorter results") deployed.outputBytes = Math.ceil(deployed.outputBytes / 2);
}

function agentOf(
  { words, tools, model, outputBytes }: Deployed,
  kind: Kind,
  number: number,
  open: (name: string) => ReturnType<VendorTarget["model"]>,
  window: number | undefined,
): Agent {
  const made = tools.map((name) =>
    defineTool({
      name,
      description: `${name} ${doc.slice(0, 200)}`,
      input: z.object({ n: z.number() }),
      limits: { outputBytes },
      run: ({ n }) => (name === "big" ? "line of output\n".repeat(6_000) : { n, doc }),
    }),
  );
  return defineAgent({
    model: open(model),
    instructions: kind === "a date" ? () => `${words} It is minute ${number}.` : words,
    ...(kind === "a note" ? { notes: () => `It is minute ${number}.` } : {}),
    tools: made,
    limits: { repeats: 60, turns: 50 },
    retry: { attempts: 2, baseMs: 1, capMs: 1 },
    ...(window === undefined ? {} : { context: { window } }),
  });
}

/** What the model says: calls as long as the question has some, and then words. */
class Script {
  readonly #random: Random;
  #kind: Kind = "plain";
  #turns = 0;
  #calls = 1;
  #tool = "weather";
  #broken = 0;
  #pauses = 0;
  stop: () => void = () => undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  begin(kind: Kind): void {
    this.#kind = kind;
    this.#turns = kind === "calls" ? 3 : kind === "a steer" ? 2 : 0;
    if (kind === "parallel calls" || kind === "long result" || kind === "shorter results")
      this.#turns = 1;
    if (kind === "an abort" && this.#random.chance(0.5)) this.#turns = 1;
    this.#pauses = kind === "a pause" ? 2 : 0;
    this.#calls = kind === "parallel calls" ? 13 : 1;
    this.#tool = kind === "long result" || kind === "shorter results" ? "big" : "weather";
    this.#broken = kind === "a cut" ? 1 : kind === "an abort" ? 1 : 0;
  }

  /** A reply by the vendor's rules, or none, half of one, or one that never ends. */
  reply(answer: () => VendorHttpResponse): VendorReply {
    if (this.#kind === "an error") return { status: 500, body: "{}" };
    const whole = answer();
    if (this.#broken === 0 || whole.status >= 400) return whole;
    this.#broken -= 1;
    const bytes = typeof whole.body === "string" ? Buffer.from(whole.body) : whole.body;
    const body = bytes.subarray(0, this.#random.below(bytes.length));
    if (this.#kind === "a cut") return { ...whole, body, end: "reset" };
    setTimeout(this.stop, 10);
    return { ...whole, body, end: "stay_open" };
  }

  say({ number, wantsJson, wantsSummary, lastUserText }: AcceptedRequest): PlainReply {
    if (wantsSummary || lastUserText.includes("Now write the summary"))
      return { text: "Summary of it." };
    const think = `Thought ${number}.`;
    if (this.#pauses > 0) {
      this.#pauses -= 1;
      return { think, text: `Half ${number}. `, stop: "paused" };
    }
    if (this.#turns > 0) {
      this.#turns -= 1;
      const calls = Array.from({ length: this.#calls }, (_, at) => ({
        name: this.#tool,
        input: { n: number * 100 + at },
      }));
      return { think, calls };
    }
    return { think, text: wantsJson ? '{"a":{"x":1}}' : `Answer. ${doc}` };
  }
}
