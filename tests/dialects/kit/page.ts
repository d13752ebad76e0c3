import type { Followed } from "@millrace/core/reading";
import { historyOf } from "../../../packages/server/src/dialects/ai-sdk/history.ts";
import { profiles } from "../../../packages/server/src/dialects/ai-sdk/profiles.ts";
import { uiMessageStream } from "../../../packages/server/src/dialects/ai-sdk/ui-message-stream.ts";
import { openChat, stored } from "./chat.ts";
import type { HeldChat, HeldMessage, Version } from "./chat.ts";
import { sentAt } from "./sessions.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

type Message = Followed["message"];

export const blobUrl = (hash: string): string => `/blobs/${hash}`;

/** What happened to a page on its way through a run. */
export interface Told {
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
  #waitedAt = 0;
  #chat: HeldChat;

  constructor(version: Version, session: WatchedSession, run: WatchedRun, way: Way) {
    this.#version = version;
    this.#session = session;
    this.#run = run;
    this.#way = way;
    this.#place = way.from;
    this.#chat = this.#open([]);
  }

  async read(): Promise<Told> {
    for (let isFirst = true; this.#place <= this.#run.last; isFirst = false) {
      if (isFirst) await this.#chat.resumeStream();
      else if (this.#chat.error?.message.startsWith("This reply was begun again") === true) {
        this.#reloads += 1;
        this.#waitedAt = 0;
        this.#chat = this.#open([]);
        await this.#chat.resumeStream();
      } else await this.#chat.sendMessage();
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
    return openChat(this.#version, { id: "chat", fetch: answer as typeof fetch, messages });
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
      known: this.#waitedAt,
      live: this.#session.states[from]?.head ?? 0,
    });
    const voice = stream.open();
    let text = ": a comment\n\n";
    const say = (all: readonly Message[]): void => {
      for (const message of all) if (!voice.isOver()) text += voice.say(message);
    };
    say(sentAt(this.#session, from, head));
    let at = from;
    const [slow, caughtUp] = this.#way.slow ?? [Infinity, Infinity];
    for (; at <= last && !voice.isOver(); at += 1) {
      if (at >= slow && at < caughtUp) continue;
      if (at === caughtUp && slow < at) {
        const seen = this.#session.states[slow]?.head ?? 0;
        say(sentAt(this.#session, at, Math.max(seen, head)));
      }
      const message = messages[at];
      if (message !== undefined && !voice.isOver()) say([message]);
    }
    this.#place = at;
    this.#waitedAt = this.#session.states[at]?.head ?? 0;
    return text + stream.end("finished");
  }
}

/** The message of a run as the history has it. */
export function historyMessage(
  version: Version,
  { uid, sessionId, facts }: WatchedSession,
  { runId }: WatchedRun,
): unknown {
  const all = historyOf(facts, { uid, sessionId, profile: profiles[version], blobUrl });
  return stored(all.find(({ id }) => id === runId));
}
