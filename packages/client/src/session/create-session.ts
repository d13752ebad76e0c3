import type { InputId, RunId, ViewApproval } from "@millrace/core";
import type { Content, Sent, SentInput } from "@millrace/core/reading";
import { answerSchemaOf } from "@millrace/core/schema";
import type { Schema } from "@millrace/core/schema";
import { newKey, acceptanceOf, errorOf } from "../http/requests.ts";
import type { Answered, Requests, RouteRequest } from "../http/requests.ts";
import type { Connector } from "../stream/connector.ts";
import type { SessionChange, WatchedSession } from "../stream/watched.ts";
import { earlierLoader, showSession } from "./view.ts";
import { contentBody, textOf, refused } from "./sender.ts";
import { createRun } from "./run.ts";
import type { Outgoing, Sender } from "./sender.ts";
import type { ClientRun, ClientSession, ClientView, SessionDetails } from "./types.ts";

/** What a session of a client is made of. */
export interface SessionParts {
  readonly session: WatchedSession;
  readonly sender: Sender;
  readonly requests: Requests;
  readonly connector: Connector;
  /** Watches until the result is called. */
  readonly watch: (listener: () => void) => () => void;
  /** The session may be there now: a watcher of a missing one looks again. */
  readonly appeared: () => void;
  /** Something else than a message has changed what is shown. */
  readonly changed: () => void;
  /** Ends all watching of the session, and forgets its state. */
  readonly forget: () => void;
  /** Another session of the same client. */
  readonly open: (id: string) => ClientSession;
  /** Of the client. */
  readonly closed: AbortSignal;
}

/** With what ends when the session is closed: waiting for its runs. */
type LivingParts = SessionParts & { readonly life: AbortSignal };

type Kind = "prompt" | "steer" | "follow_up";

/** What has happened already. */
const done: Sent = { accepted: Promise.resolve({ accepted: true }) };

/** Makes a session of a client. No request. */
export function createSession(given: SessionParts): ClientSession {
  const { session, requests, closed } = given;
  let life = new AbortController();
  let current: ClientRun<never, never> | undefined;
  const parts: LivingParts = {
    ...given,
    get life() {
      return AbortSignal.any([closed, life.signal]);
    },
  };
  const view = viewer(parts);
  const ask = async (path: string, request: RouteRequest): Promise<unknown> => {
    const answered = await requests.untilAnswered(path, { ...request, signal: closed });
    if (!answered.ok) throw errorOf(answered.problem);
    return answered.json;
  };
  const { path } = parts.sender;
  const file = async (name: string): Promise<Blob> =>
    ((await ask(`${path}/${name}`, { isFile: true })) as { readonly file: Blob }).file; // as was asked for
  const loadEarlier = earlierLoader(session, (query) => ask(`${path}/items${query}`, {}));
  const own = {
    id: session.id,
    view,
    subscribe: (listener: (view: ClientView) => void) => parts.watch(() => listener(view())),
    observe: (listener: (change: SessionChange) => void) => {
      const leave = parts.watch(() => undefined);
      const tap = (change: SessionChange): void => listener(change);
      session.taps.add(tap);
      return () => {
        session.taps.delete(tap);
        leave();
      };
    },
    get run() {
      const runId = session.state?.run?.runId;
      if (runId === undefined) return undefined;
      // One object: its result is read once, however often something looks at all fields of a view.
      if (current?.id !== runId) current = runOf(parts, runId, done.accepted);
      return current;
    },
    child: (callId: string) => {
      const id = childIdOf(session, callId);
      return id === undefined ? undefined : parts.open(id);
    },
    loadEarlier: async (limit?: number) => {
      const isMore = await loadEarlier(limit);
      parts.changed();
      return isMore;
    },
    create: async (details: object = {}) => {
      const headers = { "idempotency-key": newKey() };
      await ask("/v1/sessions", { body: { ...details, id: session.id }, headers });
      parts.appeared();
    },
    details: async () => (await ask(path, {})) as SessionDetails,
    update: async (change: object) => void (await ask(path, { method: "PATCH", body: change })),
    fork: async (itemId: string, id?: string) => {
      const headers = { "idempotency-key": newKey() };
      const made = await ask(`${path}/forks`, { body: { itemId, id }, headers });
      return parts.open((made as SessionDetails).id); // of our server
    },
    export: (format: string) => file(`export?format=${format}`),
    blob: (hash: string) => file(`blobs/${encodeURIComponent(hash)}`),
    remove: async () => void (await ask(path, { method: "DELETE" })),
    close: () => {
      life.abort();
      life = new AbortController();
      current = undefined; // its wait has ended
      parts.forget();
    },
    ...controlsOf(parts, view),
  };
  for (const name of Object.keys(view()) as (keyof ClientView)[])
    Object.defineProperty(own, name, { enumerable: true, get: () => view()[name] });
  return own as unknown as ClientSession; // with what it shows
}

/** The view, made again only after a change. */
function viewer({ session, sender, connector }: SessionParts): () => ClientView {
  let made: { readonly version: number; readonly view: ClientView } | undefined;
  return () => {
    const { version } = session;
    if (made?.version !== version)
      made = { version, view: showSession(session, sender, connector) };
    return made.view;
  };
}

type Controls = Pick<
  ClientSession,
  "send" | "steer" | "followUp" | "takeBack" | "allow" | "deny" | "answer" | "fail" | "abort"
>;

function controlsOf(parts: LivingParts, view: () => ClientView): Controls {
  const { session, sender } = parts;
  const post = (outgoing: Omit<Outgoing, "key">): Sent => ({
    accepted: sender.post({ ...outgoing, key: newKey() }).then(acceptanceOf),
  });
  const decide = (id: string, body: object): Sent => {
    const hash = view().approvals.find((approval) => approval.id === id)?.hash;
    return post({ path: `/approvals/${encodeURIComponent(id)}`, body: { ...body, hash } });
  };
  const reply = (callId: string, body: object): Sent => {
    const isCaller = ({ parts: all }: ClientView["items"][number]): boolean =>
      all.some((part) => part.kind === "tool_call" && part.callId === callId);
    return post({
      path: "/answers",
      body: { callId, itemId: view().items.findLast(isCaller)?.id, ...body },
    });
  };
  return {
    send: (content, options = {}) => {
      const { key = newKey(), limits, signal, ask } = options;
      const output: Schema | undefined = options.output; // undefined is all that is no schema
      const schema = output && answerSchemaOf(output);
      const more = (limits ?? output) && { options: { limits, output: schema } };
      const { accepted } = input(parts, "prompt", content, key, more);
      const run = runOf(parts, `run_${key}` as RunId, accepted, output);
      const { watch } = parts;
      const approvals = (): ClientView["approvals"] => view().approvals;
      if (ask !== undefined) answerBy({ ask, run, session, watch, approvals, decide });
      const stop = (): void => void run.abort(String(signal?.reason));
      if (signal?.aborted === true) stop();
      signal?.addEventListener("abort", stop, { once: true });
      return run;
    },
    steer: (content) => input(parts, "steer", content, newKey()),
    followUp: (content) => input(parts, "follow_up", content, newKey()),
    takeBack: (inputId) => {
      if (sender.drop(inputId.replace(/^input_/, ""))) return done;
      return post({ method: "DELETE", path: `/inputs/${encodeURIComponent(inputId)}` });
    },
    allow: (id) => decide(id, { decision: "allow" }),
    deny: (id, reason) => decide(id, { decision: "deny", reason }),
    answer: (callId, output) => reply(callId, { output: output ?? null }),
    fail: (callId, error) => reply(callId, { error }),
    abort: (reason) => {
      const waits = sender.waiting.find(({ shown }) => shown?.kind === "prompt");
      const next = waits && (`run_${waits.key}` as RunId);
      return stopRun(parts, session.state?.run?.runId ?? next, reason);
    },
  };
}

function input(
  { sender, appeared }: SessionParts,
  kind: Kind,
  content: Content,
  key: string,
  more?: object,
): SentInput {
  const made = contentBody(content, (bytes, type) => sender.upload(bytes, type));
  const whole = (body: object): object => ({ kind, ...body, ...more });
  const shown = { kind, text: textOf(content) };
  const body =
    made instanceof Promise ? { makeBody: () => made.then(whole) } : { body: whole(made) };
  const answered = sender.post({ key, path: "/inputs", shown, ...body });
  const accepted = answered.then((answer) => {
    if (answer.ok) appeared();
    return acceptanceOf(answer);
  });
  return { id: `input_${key}` as InputId, accepted }; // as the server makes it
}

function runOf(
  parts: LivingParts,
  runId: RunId,
  accepted: ClientRun["accepted"],
  output?: Schema,
): ClientRun<never, never> {
  const { session, sender, requests, watch, life: closed } = parts;
  const path = `${sender.path}/runs/${encodeURIComponent(runId)}`;
  const read = (): Promise<Answered> => requests.untilAnswered(path, { signal: closed });
  const abort = (reason?: string): Sent => stopRun(parts, runId, reason);
  return createRun({ runId, accepted, session, watch, read, abort, output, closed });
}

/**
 * Stops a run, past everything that waits to be sent. A prompt that can't have arrived is dropped. One
 * whose answer is on its way is stopped by its run's id now, and again after the answer if it was too early.
 */
function stopRun(
  { sender, requests, closed }: SessionParts,
  runId: RunId | undefined,
  reason?: string,
): Sent {
  const key = runId?.replace(/^run_/, "");
  if (key !== undefined && sender.drop(key)) return done;
  const stop = (): Promise<Answered> =>
    requests.untilAnswered(`${sender.path}/abort`, { body: { runId, reason }, signal: closed });
  const work = async (): Promise<Answered> => {
    const underWay = sender.waiting.find((each) => each.key === key);
    const stopped = await stop();
    const isStopped = stopped.ok && stopped.status === 202;
    if (underWay === undefined || isStopped || !(await underWay.answered).ok) return stopped;
    return await stop();
  };
  const over = refused("closed", "the client is closed");
  return { accepted: work().then(acceptanceOf, () => acceptanceOf(over)) };
}

/**
 * The id of the session in which a sub-agent works on a call. While it works its parent names it; later it
 * is made as the server made it, of the item that holds the answer. Call ids come again: the newest counts.
 */
function childIdOf({ state }: WatchedSession, callId: string): string | undefined {
  const execution = state?.executions.findLast((each) => each.callId === callId);
  if (state === undefined || execution !== undefined) return execution?.childSessionId;
  const answer = state.items
    .toArray()
    .findLast(({ parts }) =>
      parts.some((part) => part.kind === "tool_result" && part.callId === callId),
    );
  return answer && `sub_${state.uid}_${answer.id}`;
}

/** Answers the questions of a run by a function, once each, until the run has ended or the session is closed. */
function answerBy(parts: {
  readonly ask: (approval: ViewApproval) => unknown;
  readonly run: Pick<ClientRun<never, never>, "id" | "result">;
  readonly session: WatchedSession;
  readonly watch: (listener: () => void) => () => void;
  readonly approvals: () => readonly ViewApproval[];
  readonly decide: (id: string, body: { readonly decision: "allow" | "deny" }) => void;
}): void {
  const { run, session } = parts;
  const asked = new Set<string>();
  const answer = async (approval: ViewApproval): Promise<void> => {
    let isAllowed = false;
    try {
      isAllowed = (await parts.ask(approval)) === "allow";
    } catch {
      // As in process: it is denied.
    }
    parts.decide(approval.id, { decision: isAllowed ? "allow" : "deny" });
  };
  const leave = parts.watch(() => {
    if (session.state?.run?.runId !== run.id) return;
    for (const approval of parts.approvals()) {
      if (asked.has(approval.id)) continue;
      asked.add(approval.id);
      void answer(approval);
    }
  });
  void run.result.then(leave);
}
