import { callId, checkJson, inputId, MillraceError } from "@millrace/core";
import type {
  AnyTools,
  ApprovalId,
  FactOf,
  InputId,
  ItemOf,
  Json,
  JsonObject,
  PeopleFact,
  RunId,
} from "@millrace/core";
import { answerInputIdOf, runIdOf } from "../loop/ids.ts";
import { answerSchemaOf, describeIssues } from "../schema/schema.ts";
import type { Limits } from "../definition/limits.ts";
import type { Schema } from "../schema/schema.ts";
import { createRun } from "./create-run.ts";
import { forkAt } from "./fork.ts";
import type { SessionHost } from "./session-host.ts";
import type { Acceptance, Content, SentInput } from "./input.ts";
import { openBranch } from "./open.ts";
import { partsOf } from "./parts.ts";
import type { Run } from "./run.ts";
import type { OutputFor, RunOptions, Session } from "./session.ts";

/** A session as its user sees it: a view of its host, and what may be sent to it. */
export function createSession<Tools extends AnyTools>(
  host: SessionHost,
  close: () => Promise<void>,
): Session<Tools> {
  const controls = controlsOf(host);
  const base = {
    id: host.options.record.sessionId,
    ...controls,
    send: <S extends Schema | undefined = undefined>(
      content: Content,
      options: RunOptions<Tools, S> = {},
    ) => sendPrompt<Tools, S>(host, content, options),
    fork: async (itemId: string, id?: string) => {
      const branch = await openBranch(host, await forkAt(host, itemId, id));
      return createSession<Tools>(branch.host, branch.close);
    },
    close,
    [Symbol.asyncDispose]: close,
    get status() {
      return host.view().status;
    },
    get stopping() {
      return host.view().stopping;
    },
    // Names and schemas of the tools are what the types say: the loop has checked each value.
    get items() {
      return host.view().items as unknown as Session<Tools>["items"];
    },
    get approvals() {
      return host.view().approvals as unknown as Session<Tools>["approvals"];
    },
    get queue() {
      return host.view().queue;
    },
    get error() {
      return host.view().error;
    },
    get compacting() {
      return host.view().compacting;
    },
    get usage() {
      return host.view().usage;
    },
    get transcript() {
      return host.journal.state.items.toArray() as unknown as readonly ItemOf<Tools>[];
    },
    get run() {
      return currentRun<Tools>(host);
    },
  };
  return base;
}

/** Sends a prompt, and answers at once with the run that it begins. */
export function sendPrompt<Tools extends AnyTools, S extends Schema | undefined>(
  host: SessionHost | Promise<SessionHost>,
  content: Content,
  options: RunOptions<Tools, S>,
  given?: InputId,
): Run<Tools, OutputFor<S>> {
  const opened = Promise.resolve(host);
  const makeInputId = (): InputId => inputId(newId(host));
  const id = given ?? makeInputId();
  const runId = runIdOf(id);
  const send = (session: SessionHost): Promise<Acceptance> => {
    session.wish(runId, { output: options.output, ask: options.ask as SenderAsk });
    return session.say(id, async () => await promptOf(id, content, options));
  };
  // Sent at once where the session is there, so that what is sent next comes after it.
  const accepted = "options" in host ? send(host) : opened.then(send, refusedOpen);
  const run = createRun({
    host: opened,
    runId,
    inputId: id,
    accepted,
    output: options.output,
    makeInputId,
  });
  stopBy(options.signal, run);
  return run;
}

type SenderAsk = Parameters<SessionHost["wish"]>[1]["ask"];

function refusedOpen(error: unknown): Acceptance {
  const known = MillraceError.is(error)
    ? error
    : new MillraceError("broken_port", String(error), { cause: error });
  return { accepted: false, error: known };
}

async function promptOf(
  id: InputId,
  content: Content,
  {
    limits,
    output,
  }: { readonly limits?: Limits | undefined; readonly output?: Schema | undefined },
): Promise<PeopleFact> {
  const parts = await partsOf(content);
  const given = Object.entries(limits ?? {}).flatMap(([name, limit]) =>
    typeof limit === "number" ? [[name, limit] as const] : [],
  );
  // Whoever takes the run over can't know the schema, but can still tell the model of the shape.
  const options: JsonObject = {
    ...(given.length === 0 ? {} : { limits: Object.fromEntries(given) }),
    ...(output === undefined ? {} : { output: answerSchemaOf(output) }),
  };
  const asked = Object.keys(options).length === 0 ? {} : { options };
  return { type: "input_accepted", inputId: id, input: { kind: "prompt", parts, ...asked } };
}

function stopBy(signal: AbortSignal | undefined, run: Run<never, never>): void {
  if (signal === undefined) return;
  const stop = (): void => void run.abort();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  void run.result.then(() => signal.removeEventListener("abort", stop));
}

function newId(host: SessionHost | Promise<SessionHost>): string {
  return "options" in host
    ? host.options.makeId("input")
    : `input_${crypto.randomUUID().replaceAll("-", "")}`;
}

type Controls = Pick<
  Session,
  "steer" | "followUp" | "takeBack" | "allow" | "deny" | "answer" | "abort"
>;

function controlsOf(host: SessionHost): Controls {
  const newInput = (): InputId => inputId(host.options.makeId("input"));
  const say = (body: (id: InputId) => Promise<PeopleFact>, key?: string): SentInput => {
    const id = newInput();
    return { id, accepted: host.say(key ?? id, () => body(id)) };
  };
  const tell = (kind: "steer" | "follow_up", content: Content): SentInput =>
    say(async (id) => {
      const parts = await partsOf(content);
      return { type: "input_accepted", inputId: id, input: { kind, parts } };
    });
  const resolve = (
    approvalId: ApprovalId,
    decision: "allow" | "deny",
    reason?: string,
  ): SentInput =>
    say(async () => {
      const asked = host.journal.state.approvals.find((one) => one.asked.approvalId === approvalId);
      if (asked === undefined)
        throw new MillraceError("refused", `no question ${approvalId} is open`);
      const why = reason === undefined ? {} : { reason };
      return {
        type: "approval_resolved",
        approvalId,
        callId: asked.asked.callId,
        decision,
        ...why,
      };
    });
  return {
    steer: (content) => tell("steer", content),
    followUp: (content) => tell("follow_up", content),
    takeBack: (taken) =>
      say(
        async () => ({ type: "queue_updated", inputId: inputId(taken), change: "taken_back" }),
        `take_back_${taken}`,
      ),
    allow: (id) => resolve(id, "allow"),
    deny: (id, reason) => resolve(id, "deny", reason),
    answer: (called, output) => answerCall(host, called, output),
    abort: (reason) =>
      say(async (id) => {
        const why = reason === undefined ? {} : { reason };
        return { type: "input_accepted", inputId: id, input: { kind: "abort", ...why } };
      }),
  };
}

/** A call is answered once: the same answer again is accepted, another one is not. */
function answerCall(host: SessionHost, called: string, output: unknown): SentInput {
  const call = callId(called);
  const reply = host.journal.standing.run?.turn?.reply;
  const asked = reply?.calls.find((one) => one.callId === call);
  const id =
    asked === undefined ? inputId(host.options.makeId("input")) : answerInputIdOf(asked.itemId);
  const accepted = host.say(id, async () => {
    if (asked === undefined) return refuse(`no call ${called} waits for an answer`);
    const tool = host.options.agent.tools.get(asked.tool);
    if (tool?.run !== "client") return refuse(`the call ${called} is not a client's to answer`);
    const checked = await tool.output?.["~standard"].validate(output);
    if (checked?.issues !== undefined) {
      return refuse(`the answer has not the tool's shape:\n${describeIssues(checked.issues)}`);
    }
    const wrong = checkJson(output);
    if (wrong !== undefined) return refuse(`the answer is not plain JSON: ${wrong.code}`);
    const input = { kind: "answer", callId: call, output: output as Json } as const;
    return { type: "input_accepted", inputId: id, input };
  });
  return { id, accepted };
}

function refuse(message: string): never {
  throw new MillraceError("refused", message);
}

/** The run that is on, whoever began it. */
function currentRun<Tools extends AnyTools>(host: SessionHost): Run<Tools> | undefined {
  const { run } = host.journal.state;
  if (run === undefined) return undefined;
  const begun = host.journal.facts.findLast(
    (fact): fact is FactOf<"input_accepted"> =>
      fact.type === "input_accepted" && isBegunBy(fact.inputId, run.runId),
  );
  const created = createRun({
    host: Promise.resolve(host),
    runId: run.runId,
    inputId: begun?.inputId ?? inputId("none"),
    accepted: Promise.resolve({ accepted: true }),
    output: undefined,
    makeInputId: () => inputId(host.options.makeId("input")),
  });
  return created;
}

function isBegunBy(id: InputId, runId: RunId): boolean {
  return runIdOf(id) === runId;
}
