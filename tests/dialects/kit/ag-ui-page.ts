import { HttpAgent } from "@ag-ui/client";
import type { Message } from "@ag-ui/client";
import { HttpAgent as HttpAgentBefore1 } from "ag-ui-client-v0";
import type { Followed } from "@millrace/core/reading";
import { agUiStream } from "../../../packages/dialects/src/ag-ui/encode/ag-ui-stream.ts";
import type { AgUiStreamOptions } from "../../../packages/dialects/src/ag-ui/encode/ag-ui-stream.ts";
import { turnMessages } from "../../../packages/dialects/src/ag-ui/encode/history.ts";
import { hasMessages } from "../../../packages/dialects/src/ag-ui/encode/page-messages.ts";
import { runMessages } from "../../../packages/dialects/src/ag-ui/encode/messages.ts";
import { recordOf } from "../../../packages/dialects/src/shared/encode/run-record.ts";
import { sentAt, storedTurns } from "./sessions.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

type LogMessage = Followed["message"];

const blobUrl = (hash: string): string => `/blobs/${hash}`;
/** An event as a client gives it to its subscribers. */
export interface HeldEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What every page holds before the run. */
const asked: Message = { id: "asked", role: "user", content: "What is it?" };

/** What happened to a page on its way through a run. */
export interface PageResult {
  readonly messages: readonly Message[];
  readonly requests: number;
  readonly snapshots: number;
}

/** Where a page comes and is cut off, by places of the session's messages. */
export interface PageWay {
  /** It opens its first stream here: from the run's start as the one who asked, later as a new page. */
  readonly from: number;
  /** Its connection breaks here, and it asks anew with all that it holds. */
  readonly cuts?: readonly number[] | undefined;
  /** So many places later. Left out: at once. */
  readonly away?: number | undefined;
  /** From there on it is sent nothing, and up to here: it is slow. */
  readonly slow?: readonly [number, number] | undefined;
}

/**
 * A page with an unmodified `HttpAgent`, with its verifier, that follows one run: it answers nothing itself, and
 * asks again whenever its stream has ended, as it would with its answers.
 */
export class AgUiPage {
  readonly #session: WatchedSession;
  readonly #run: WatchedRun;
  readonly #way: PageWay;
  readonly #agent: HttpAgent;
  #place: number;
  #requests = 0;
  #snapshots = 0;
  #isEnded = false;
  #isCut = false;

  readonly #isVersion1: boolean;

  /** By the last version before 1.0, if `isVersion1` is false. `onChange` gets what the page shows. */
  constructor(
    session: WatchedSession,
    run: WatchedRun,
    way: PageWay,
    isVersion1 = true,
    onChange?: (messages: readonly Message[]) => void,
  ) {
    this.#isVersion1 = isVersion1;
    this.#session = session;
    this.#run = run;
    this.#way = way;
    this.#place = way.from;
    const isFirst = way.from === run.first;
    const Agent = isVersion1 ? HttpAgent : (HttpAgentBefore1 as unknown as typeof HttpAgent);
    this.#agent = new Agent({
      url: "http://localhost/ag-ui",
      threadId: "thread",
      initialMessages: isFirst ? [asked] : [],
      fetch: async () => {
        const headers = { "content-type": "text/event-stream" };
        return new Response(this.#stream(), { headers });
      },
    });
    if (onChange !== undefined)
      this.#agent.subscribe({ onMessagesChanged: ({ messages }) => onChange(messages) });
  }

  async read(): Promise<PageResult> {
    while (!this.#isEnded) {
      // All questions are covered: the library sends nothing else.
      const resume = this.#agent.pendingInterrupts.map(({ id }) => ({
        interruptId: id,
        status: "cancelled" as const,
      }));
      await this.#agent.runAgent(resume.length === 0 ? {} : { resume });
      this.#requests += 1;
      if (this.#requests > 100) throw new Error("the page does not come to an end");
    }
    // Readers before 1.0 keep this one, which nothing shows.
    const messages = this.#agent.messages.filter(({ id }) => id !== "millrace.cleared.1");
    return { messages, requests: this.#requests, snapshots: this.#snapshots };
  }

  /** How the server begins: by what the page's request says that it holds. */
  #begin(start: number, place: number): AgUiStreamOptions["begin"] {
    const { uid, sessionId, facts, states } = this.#session;
    const isFirst = this.#requests === 0;
    if (isFirst && this.#place === this.#run.first) return { kind: "start" };
    const { messages } = this.#agent;
    if (isFirst || this.#isCut) return { kind: "anew", isAligned: messages.length === 0 };
    const n = states[place]?.head ?? 0;
    const record = recordOf({ uid, sessionId }, facts.slice(start - 1, n));
    const isHeld =
      record.phase === "waiting" && hasMessages(messages, runMessages(record, blobUrl));
    return isHeld ? { kind: "received", n } : { kind: "anew", isAligned: false };
  }

  /** All of one stream: from where the page is to the stream's own end, or to where it is cut. */
  #stream(): string {
    const { uid, sessionId, messages, facts } = this.#session;
    const { runId, first, last } = this.#run;
    const [start] = facts.filter((fact) => fact.type === "run_started" && fact.runId === runId);
    const head = (start?.n ?? 0) - 1;
    const from = Math.max(this.#place, first);
    const begin = this.#begin(start?.n ?? 0, from);
    this.#isCut = false;
    const stream = agUiStream({
      name: "page",
      asked: { threadId: "thread", runId: `run ${this.#requests}`, isVersion1: this.#isVersion1 },
      blobUrl,
      before: JSON.stringify(asked),
      after: "",
      results: new Map(),
      uid,
      sessionId,
      runId,
      head,
      begin,
      live: this.#session.states[from]?.head ?? 0,
    });
    const encoder = stream.open();
    let text = ": a comment\n\n";
    const say = (all: readonly LogMessage[]): void => {
      for (const message of all) if (!encoder.isOver()) text += encoder.encode(message);
    };
    say(sentAt(this.#session, from, head));
    let at = from;
    const [slow, caughtUp] = this.#way.slow ?? [Infinity, Infinity];
    const { cuts = [], away = 0 } = this.#way;
    for (; at <= last && !encoder.isOver(); at += 1) {
      if (cuts.includes(at) && from < at) {
        this.#isCut = true;
        break;
      }
      if (at >= slow && at < caughtUp) continue;
      if (at === caughtUp && slow < at) {
        const seen = this.#session.states[slow]?.head ?? 0;
        say(sentAt(this.#session, at, Math.max(seen, head)));
      }
      const message = messages[at];
      if (message !== undefined && !encoder.isOver()) say([message]);
    }
    this.#place = this.#isCut ? Math.min(at + away, last + 1) : at;
    this.#snapshots += text.split('"MESSAGES_SNAPSHOT"').length - 1;
    this.#isEnded = !this.#isCut && at > last;
    return this.#isCut ? text : text + stream.end("finished");
  }
}

/** The messages of a run as the history has them, after what its page asked. */
export function historyMessages(
  { uid, sessionId, facts }: WatchedSession,
  { runId }: WatchedRun,
): readonly unknown[] {
  const start = facts.findIndex((fact) => fact.type === "run_started" && fact.runId === runId);
  const end = facts.findIndex((fact) => fact.type === "run_finished" && fact.runId === runId);
  const own = facts.slice(start, end + 1);
  const turns = storedTurns({ uid, sessionId, facts: own });
  const all = turns.flatMap((turn) => turnMessages(turn, { uid, sessionId, blobUrl }));
  // What began the run, by its items: the first reply may have no message.
  const items = recordOf({ uid, sessionId }, own).state.items.toArray();
  const prompts = items.slice(
    0,
    items.findIndex(({ author }) => author !== "user"),
  );
  const isPrompt = (message: { readonly id: string }): boolean =>
    prompts.some(({ id }) => id === message.id);
  return [asked, ...all.filter((message) => !isPrompt(message))];
}
