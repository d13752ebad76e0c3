import { MillraceError } from "@millrace/core";
import { inputId } from "@millrace/core/writing";
import type { Actor, Inbox, JsonObject, Item } from "@millrace/core";
import type { CallAnswer } from "@millrace/core/writing";
import type { AnyTools, ItemOf, ItemPage } from "@millrace/core/reading";
import { randomId } from "@millrace/core/memory";
import { runIdOf } from "../loop/ids.ts";
import { answerSchemaOf, describeIssues } from "@millrace/core/schema";
import type { Limits } from "../definition/limits.ts";
import type { OutputFor, Schema } from "@millrace/core/schema";
import { checkContent, checkRunOptions, runHints } from "./check-options.ts";
import { createRun } from "./create-run.ts";
import { RunEnd } from "./run-end.ts";
import { stopReasonOf } from "./stop-reason.ts";
import { forkAt } from "./fork.ts";
import type { SessionHost } from "./session-host.ts";
import { acceptance } from "./acceptance.ts";
import { callAnswerOf } from "./call-answer.ts";
import type { Acceptance, Content, SendOptions, SentInput } from "./input.ts";
import { openBranch } from "./open.ts";
import { partsOf } from "./parts.ts";
import { brokenPort } from "./port-errors.ts";
import type { Run } from "./run.ts";
import type {
  EarlierOptions,
  EarlierPage,
  RunOptions,
  Session,
  SessionWatchOptions,
} from "./session.ts";
import { childOf, watchFamily } from "./family.ts";
import { readItems } from "@millrace/core/reading";

/**
 * Makes the `Session` of a host. It has no state of its own: every getter reads the host. Several
 * sessions may share one host, see `open.ts`; `close` closes this one. `actor` is the person of each call
 * that names none.
 */
export function createSession<Tools extends AnyTools>(
  host: SessionHost,
  close: () => Promise<void>,
  actor?: Actor,
): Session<Tools> {
  const controls = controlsOf(host, actor);
  /** Made once for each run, so that reading it again costs nothing. */
  let current: Run<Tools> | undefined;
  const base = {
    id: host.options.record.sessionId,
    tenant: host.info.tenant,
    ...controls,
    send: <S extends Schema | undefined = undefined>(
      content: Content,
      options: RunOptions<Tools, S> = {},
    ) => {
      const door = { name: "session.send", from: base.send, hints: runHints };
      checkContent(door, content);
      checkRunOptions(door, options);
      const sent = { ...options, actor: options.actor ?? actor };
      return sendPrompt<Tools, S>(host, content, sent, host.options.agent.warnings);
    },
    fork: async (itemId: string, id?: string) => {
      const branch = await openBranch(host, await forkAt(host, itemId, id));
      return createSession<Tools>(branch.host, branch.close, actor);
    },
    history: async () => (await historyOf(host)) as unknown as readonly ItemOf<Tools>[],
    readEarlier: async (options?: EarlierOptions) =>
      (await pageOf(host, options)) as unknown as EarlierPage<Tools>,
    watch: (options?: SessionWatchOptions) => watchFamily(host, options),
    child: (id: string) => childOf(host, id, actor),
    close,
    [Symbol.asyncDispose]: close,
    get status() {
      return host.view().status;
    },
    get stopping() {
      return host.view().stopping;
    },
    get released() {
      return host.view().released;
    },
    // The loop has checked names and values by the agent's tools, so the narrower types hold.
    get items() {
      return host.view().items as unknown as Session<Tools>["items"];
    },
    get earlier() {
      return host.view().earlier;
    },
    get approvals() {
      return host.view().approvals as unknown as Session<Tools>["approvals"];
    },
    get queue() {
      return host.view().queue;
    },
    get lastRun() {
      return host.view().lastRun;
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
    get connection() {
      return host.connection;
    },
    get run() {
      const { run } = host.journal.state;
      if (run?.runId !== current?.id) current = currentRun<Tools>(host, actor);
      return current;
    },
  };
  return base;
}

/** An input that the store refused has no run: its sender is warned if nothing reads the answer. */
async function noteRefusal(accepted: Promise<Acceptance>, end: RunEnd): Promise<void> {
  const answer = await accepted;
  if (answer.accepted || answer.error.code === "aborted") return;
  const { code, message } = answer.error;
  end.failed({ code, message, refused: true });
}

/**
 * Sends a prompt and returns its run at once. Never throws: if the session can't be opened or the inbox
 * refuses the prompt, `accepted` and `result` of the run have the error.
 */
export function sendPrompt<Tools extends AnyTools, S extends Schema | undefined>(
  host: SessionHost | Promise<SessionHost>,
  content: Content,
  options: RunOptions<Tools, S>,
  warns = true,
): Run<Tools, OutputFor<S>> {
  const opened = Promise.resolve(host);
  const { key = newKey(host), actor } = options;
  const id = inputId(`input_${key}`);
  const runId = runIdOf(id);
  const end = new RunEnd(runId, warns, "options" in host ? host.options.clock : undefined);
  const send = (session: SessionHost): Promise<Acceptance> => {
    session.setSenderOptions(runId, {
      output: options.output,
      ask: options.ask as SenderAsk,
      actor,
      signal: options.signal,
      onFailed: ({ code, message }) => end.failed({ code, message, refused: false }),
    });
    const asked = runOptionsOf(options);
    const sent = session.inbox.send(() => partsOf(content), { key, actor, ...asked });
    const answer = acceptance(sent);
    const isOver = session.ended(runId) !== undefined; // a repeat under the same key
    if (!isOver) session.observers.add(id, options.observers ?? [], answer);
    return answer;
  };
  // Sent synchronously if the session is open, so that later inputs are stored after this one.
  const accepted = "options" in host ? send(host) : opened.then(send, refusedOpen);
  void noteRefusal(accepted, end);
  const { output, signal } = options;
  const run = createRun({ host: opened, runId, inputId: id, accepted, output, actor, signal, end });
  stopBy(signal, run);
  return run;
}

type SenderAsk = Parameters<SessionHost["setSenderOptions"]>[1]["ask"];

function refusedOpen(error: unknown): Acceptance {
  return { accepted: false, error: brokenPort(error) };
}

/** The options that are stored with a prompt. A driver that takes the run over has only these. */
function runOptionsOf({
  limits,
  output,
  strict = false,
}: {
  readonly limits?: Limits | undefined;
  readonly output?: Schema | undefined;
  readonly strict?: boolean | undefined;
}): { readonly options?: JsonObject } {
  const given = Object.entries(limits ?? {}).flatMap(([name, limit]) =>
    typeof limit === "number" ? [[name, limit] as const] : [],
  );
  const options: JsonObject = {
    ...(given.length === 0 ? {} : { limits: Object.fromEntries(given) }),
    ...(output === undefined ? {} : { output: answerSchemaOf(output) }),
    ...(output !== undefined && strict ? { strict } : {}),
  };
  return Object.keys(options).length === 0 ? {} : { options };
}

function stopBy(signal: AbortSignal | undefined, run: Run<never, never>): void {
  if (signal === undefined) return;
  const stop = (): void => void run.abort(stopReasonOf(signal));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  void run.result.then(() => signal.removeEventListener("abort", stop));
}

/** A key for a caller that gives none, so that the id of the input is known before it is stored. */
function newKey(host: SessionHost | Promise<SessionHost>): string {
  const id = "options" in host ? host.options.makeId("input") : randomId("input");
  return id.replace(/^input_/, "");
}

type Controls = Pick<
  Session,
  "steer" | "followUp" | "takeBack" | "allow" | "deny" | "answer" | "abort"
>;

function controlsOf(host: SessionHost, usual: Actor | undefined): Controls {
  const { inbox } = host;
  const by = <O extends SendOptions>(
    options: O | undefined,
  ): O | { readonly actor: typeof usual } =>
    options?.actor === undefined ? { ...options, actor: usual } : options;
  const input = (
    send: Inbox["steer"] | Inbox["followUp"],
    content: Content,
    options: SendOptions = {},
  ): SentInput => {
    const { key = newKey(host) } = options;
    const accepted = acceptance(send(() => partsOf(content), { ...by(options), key }));
    return { id: inputId(`input_${key}`), accepted };
  };
  return {
    steer: (content, options) => input(inbox.steer, content, options),
    followUp: (content, options) => input(inbox.followUp, content, options),
    takeBack: (id, options) => ({ accepted: acceptance(inbox.takeBack(id, by(options))) }),
    allow: (id, options) => ({ accepted: acceptance(inbox.allow(id, by(options))) }),
    deny: (id, reason, options) => ({
      accepted: acceptance(inbox.deny(id, { reason, ...by(options) })),
    }),
    answer: (called, answer, options) => ({
      accepted: answerCall(host, called, callAnswerOf(answer), by(options)),
    }),
    // Without a key it is recognised by the run that it stops. One of ours would be new each time.
    abort: (reason, options) => ({
      accepted: acceptance(inbox.abort({ ...by(options), reason })),
    }),
  };
}

/**
 * Stores a client's answer to a call. The first answer counts: the same answer again is accepted, a
 * different one is refused. If this process knows the call, its tool checks the answer first. The driver
 * checks every answer again, because another process may have no tools.
 */
async function answerCall(
  host: SessionHost,
  called: string,
  answer: CallAnswer,
  options: SendOptions | undefined,
): Promise<Acceptance> {
  const reply = host.journal.standing.run?.turn?.reply;
  const asked = reply?.calls.find((one) => one.callId === called);
  const tool = asked === undefined ? undefined : host.options.agent.tools.get(asked.tool);
  if (asked !== undefined && tool?.run !== "client") {
    return refuse(`the call ${called} is not a client's to answer`);
  }
  const checked =
    "output" in answer ? await tool?.output?.["~standard"].validate(answer.output) : undefined;
  if (checked?.issues !== undefined) {
    return refuse(`the answer has not the tool's shape:\n${describeIssues(checked.issues)}`);
  }
  return await acceptance(host.inbox.answer({ callId: called }, answer, options));
}

function refuse(message: string): Acceptance {
  return { accepted: false, error: new MillraceError("refused", message) };
}

/** The current run, also one that another process began. */
function currentRun<Tools extends AnyTools>(
  host: SessionHost,
  actor: Actor | undefined,
): Run<Tools> | undefined {
  const { run } = host.journal.state;
  if (run === undefined) return undefined;
  const created = createRun({
    host: Promise.resolve(host),
    runId: run.runId,
    inputId: host.journal.runs.get(run.runId)?.inputId ?? inputId("none"),
    accepted: Promise.resolve({ accepted: true }),
    output: undefined,
    actor,
    signal: undefined,
    end: new RunEnd(run.runId, false), // only its sender is warned
  });
  return created;
}

/** Items that are read at a time for the whole history. */
const itemsAtOnce = 500;

/** One page of the items that the host, or the page before, leaves out. */
async function pageOf(
  { journal, options: { store, record } }: SessionHost,
  { earlier = journal.state.earlier, limit }: EarlierOptions = {},
): Promise<ItemPage> {
  if (earlier === undefined) return { items: [] };
  return await readItems({ store, uid: record.uid, earlier, limit });
}

/** All items of a session. */
async function historyOf(host: SessionHost): Promise<readonly Item[]> {
  const { items, earlier } = host.journal.state;
  const pages: (readonly Item[])[] = [items.toArray()];
  for (let left = earlier; left !== undefined;) {
    const page = await pageOf(host, { earlier: left, limit: itemsAtOnce });
    pages.push(page.items);
    left = page.earlier;
  }
  return pages.toReversed().flat();
}
