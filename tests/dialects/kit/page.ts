import type { Followed } from "@millrace/core/reading";
import { turnMessages } from "../../../packages/dialects/src/ai-sdk/encode/history.ts";
import { receivedUpTo } from "../../../packages/dialects/src/ai-sdk/encode/received-up-to.ts";
import { profiles } from "../../../packages/dialects/src/ai-sdk/encode/profiles.ts";
import { uiMessageStream } from "../../../packages/dialects/src/ai-sdk/encode/ui-message-stream.ts";
import { waitsOf } from "../../../packages/dialects/src/shared/encode/waits.ts";
import { openChat, stored } from "./chat.ts";
import type { ChatOptions, HeldChat, HeldMessage, Version } from "./chat.ts";
import { sentAt, storedTurns } from "./sessions.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

type Message = Followed["message"];

const blobUrl = (hash: string): string => `/blobs/${hash}`;

/** What happened to a page on its way through a run. */
export interface PageResult {
  readonly message: HeldMessage | undefined;
  /** Why its last stream ended, in the words that it was told. */
  readonly error: string | undefined;
  readonly requests: number;
  readonly reloads: number;
}

/** Where a page is cut off, by places of the session's messages. */
export interface Way {
  /** It opens its first stream here. */
  readonly from: number;
  /** From there on it is sent nothing, and up to here: it is slow. */
  readonly slow?: readonly [number, number] | undefined;
  /** Its connection breaks here, and it resumes. A page of 5 loads its messages anew first. */
  readonly cuts?: readonly number[] | undefined;
  /** So many places later. Left out: at once. */
  readonly away?: number | undefined;
}

/**
 * A page of the library, unmodified, that follows one run: it answers nothing itself, and asks again whenever
 * its stream has ended, as it would with its answers. A message that could not be mended is loaded anew.
 */
export class Page {
  readonly #version: Version;
  readonly #session: WatchedSession;
  readonly #run: WatchedRun;
  readonly #way: Way;
  #place: number;
  #requests = 0;
  #reloads = 0;
  #resumes = true;
  /** Whether the page was told how the run ended. */
  #isEnded = false;
  #isCut = false;
  #chat: HeldChat;
  readonly #onChange: ChatOptions["onChange"];

  /** `onChange` gets what the page shows. */
  constructor(
    version: Version,
    session: WatchedSession,
    run: WatchedRun,
    way: Way,
    onChange?: ChatOptions["onChange"],
  ) {
    this.#version = version;
    this.#onChange = onChange;
    this.#session = session;
    this.#run = run;
    this.#way = way;
    this.#place = way.from;
    this.#chat = this.#open([]);
  }

  async read(): Promise<PageResult> {
    for (let isFirst = true; !this.#isEnded; isFirst = false) {
      if (isFirst) await this.#chat.resumeStream();
      else if (this.#isCut) {
        this.#resumes = true;
        if (this.#version === 5) this.#chat = this.#open([]);
        await this.#chat.resumeStream();
      } else if (this.#chat.error?.message.startsWith("This reply was begun again") === true) {
        this.#reloads += 1;
        this.#resumes = true;
        this.#chat = this.#open([]);
        await this.#chat.resumeStream();
      } else {
        this.#resumes = false;
        await this.#chat.sendMessage();
      }
      this.#requests += 1;
      if (this.#requests > 100) throw new Error("the page does not come to an end");
    }
    const message = this.#chat.messages.at(-1);
    const error = this.#chat.error?.message;
    return { message, error, requests: this.#requests, reloads: this.#reloads };
  }

  #open(messages: readonly HeldMessage[]): HeldChat {
    const answer = async (): Promise<Response> => {
      const headers = { "content-type": "text/event-stream" };
      return new Response(this.#stream(), { headers });
    };
    const shown = this.#onChange === undefined ? {} : { onChange: this.#onChange };
    return openChat(this.#version, { id: "chat", fetch: answer, messages, ...shown });
  }

  /** What the server finds out from the page's request. Nothing of what the page holds, if it resumes. */
  #receivedTo(start: number, place: number): number {
    const { uid, sessionId, facts, states } = this.#session;
    const run = { uid, sessionId, runId: this.#run.runId, head: start - 1 };
    const waits = waitsOf(run, facts.slice(start - 1, states[place]?.head));
    return this.#resumes ? 0 : receivedUpTo(waits, this.#chat.messages.at(-1)?.parts ?? []);
  }

  /** All of one stream: from where the page is to the stream's own end. */
  #stream(): string {
    const { uid, sessionId, messages, facts } = this.#session;
    const { runId, first, last } = this.#run;
    const [start] = facts.filter((fact) => fact.type === "run_started" && fact.runId === runId);
    const head = (start?.n ?? 0) - 1;
    const from = Math.max(this.#place, first);
    const stream = uiMessageStream({
      profile: profiles[this.#version],
      blobUrl,
      uid,
      sessionId,
      runId,
      head,
      receivedTo: this.#receivedTo(start?.n ?? 0, from),
      live: this.#session.states[from]?.head ?? 0,
    });
    const encoder = stream.open();
    let text = ": a comment\n\n";
    const say = (all: readonly Message[]): void => {
      for (const message of all) if (!encoder.isOver()) text += encoder.encode(message);
    };
    say(sentAt(this.#session, from, head));
    let at = from;
    const [slow, caughtUp] = this.#way.slow ?? [Infinity, Infinity];
    const { cuts = [], away = 0 } = this.#way;
    this.#isCut = false;
    for (; at <= last && !encoder.isOver(); at += 1) {
      if (cuts.includes(at) && from < at) {
        this.#isCut = true;
        this.#place = Math.min(at + away, last + 1);
        return text;
      }
      if (at >= slow && at < caughtUp) continue;
      if (at === caughtUp && slow < at) {
        const seen = this.#session.states[slow]?.head ?? 0;
        say(sentAt(this.#session, at, Math.max(seen, head)));
      }
      const message = messages[at];
      if (message !== undefined && !encoder.isOver()) say([message]);
    }
    this.#place = at;
    this.#isEnded = text.includes('"messageMetadata"');
    return text + stream.end("finished");
  }
}

/**
 * A message as it would be stored, without what the table of the dialect says of it. A step whose parts were
 * taken back, and that got no others, stays as an empty one. Pages of 6 have no chunk for an answer: who asked
 * goes on to hold the question of a call that came to something, and who came later never saw it.
 */
export function comparable(version: Version, message: HeldMessage | undefined): unknown {
  const isEmpty = (next: string | undefined): boolean =>
    next === undefined || ["step-start", "steering-message", "data-steering"].includes(next);
  const steps = (message?.parts ?? []).filter(
    ({ type }, at, all) => type !== "step-start" || !isEmpty(all[at + 1]?.type),
  );
  if (message === undefined || steps.length === 0) return undefined; // of a run without a word
  const parts = steps.map(({ approval, ...part }) =>
    version !== 6 || part["state"] === "approval-requested" ? { ...part, approval } : part,
  );
  return stored({ ...message, parts });
}

/** The message of a run as the history has it. */
export function historyMessage(
  version: Version,
  { uid, sessionId, facts }: WatchedSession,
  { runId }: WatchedRun,
): unknown {
  const options = { uid, sessionId, profile: profiles[version], blobUrl };
  const turns = storedTurns({ uid, sessionId, facts });
  const all = turns.flatMap((turn) => turnMessages(turn, options));
  return stored(all.find(({ id }) => id === runId));
}
