import { setTimeout as sleep } from "node:timers/promises";
import { createClient, memoryOutbox } from "@millrace/client";
import type { Client, ClientSession, ClientView, Content, RunResult } from "@millrace/client";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { filler, sealed } from "../kit/deployment/paced-agent.ts";
import { GivenPromises } from "../kit/given-promises.ts";
import type { Random } from "../kit/random.ts";
import type { SentCommand } from "./oracle.ts";

export interface PagesOptions {
  /** Of the proxy that takes the web nodes in turn. */
  readonly url: string;
  readonly sessions: readonly string[];
  /** How many pages watch all of them. */
  readonly count: number;
  readonly random: Random;
  /** The pause of a page between two things that its person does: at least, and at most. */
  readonly pauseMs: readonly [number, number];
}

/** What the promise of a run resolved to. */
export interface PageResult {
  readonly session: string;
  readonly key: string;
  readonly outcome: string;
}

/** A session as a page shows it. */
export interface PageSession {
  readonly page: number;
  readonly id: string;
  readonly view: ClientView;
}

/** Characters of a file that is too large to go with its input. */
const fileLength = 40_000;

/** Pages of `@millrace/client`, each with all sessions. Their people prompt, steer, stop and reload. */
export class Pages {
  readonly given = new GivenPromises(() => performance.now());
  readonly sent: SentCommand[] = [];
  readonly results: PageResult[] = [];
  /** Heads that went back. */
  readonly faults: string[] = [];
  readonly #options: PagesOptions;
  readonly #pages: Page[];
  #keys = 0;

  constructor(options: PagesOptions) {
    this.#options = options;
    this.#pages = Array.from(
      { length: options.count },
      (_, at) => new Page(at, options, (fault) => this.faults.push(fault)),
    );
  }

  /** Lets people work until the signal is aborted. */
  async work(signal: AbortSignal): Promise<void> {
    const { random, sessions } = this.#options;
    const [least, most] = this.#options.pauseMs;
    const one = async (page: Page): Promise<void> => {
      const recent = new Map<string, string[]>();
      while (!signal.aborted) {
        const id = random.pick(sessions);
        const inputs = recent.get(id) ?? [];
        recent.set(id, inputs);
        this.#act(page, page.session(id), inputs);
        const ms = least + random.next() * (most - least);
        await sleep(ms, undefined, { signal }).catch(() => undefined);
      }
    };
    await Promise.all(this.#pages.map(one));
  }

  /** Each session of each page. */
  shown(): readonly PageSession[] {
    return this.#pages.flatMap((page) =>
      this.#options.sessions.map((id) => ({ page: page.at, id, view: page.session(id).view() })),
    );
  }

  /** Reads a file that a session has, as a page would for a download. */
  async readFile(session: string, hash: string): Promise<string> {
    const blob = await this.given.watch(
      `the file ${hash} of ${session}`,
      this.#options.random.pick(this.#pages).session(session).blob(hash),
    );
    return await blob.text();
  }

  close(): void {
    for (const page of this.#pages) page.close();
  }

  #act(page: Page, session: ClientSession, recent: string[]): void {
    const { random } = this.#options;
    const draw = random.next();
    const target = random.pick(recent.slice(-3));
    if (draw < 0.05) return page.reload();
    if (draw < 0.12 && target !== undefined)
      return this.#record("takeBack", session, this.#key(), session.takeBack(target), { target });
    if (draw < 0.2) return this.#record("abort", session, this.#key(), session.abort());
    if (draw < 0.32) {
      const call = draw < 0.26 ? "steer" : "followUp";
      const text = textOfDirective({ key: this.#key(), mode: "plain", length: 40 });
      const sent = session[call](text);
      const key = sent.id.replace(/^input_/, "");
      recent.push(sent.id);
      return this.#record(call, session, key, sent, { text });
    }
    const key = this.#key();
    const mode = random.pick(["plain", "effect", "many", "ask", "delegate"] as const);
    const text = textOfDirective({ key, mode, length: 20 + random.below(160) });
    const bytes = sealed(`${key} ${filler(fileLength)}`);
    const file = new File([bytes], "list.txt", { type: "text/plain" });
    const content: Content = draw < 0.42 ? [text, file] : text;
    const run = session.send(content, { key });
    recent.push(`input_${key}`);
    this.#record("send", session, key, run, { text });
    void this.#awaitResult(session, key, run.result);
  }

  async #awaitResult(
    { id: session }: ClientSession,
    key: string,
    result: Promise<RunResult>,
  ): Promise<void> {
    const ended = await this.given.watch(`the result of ${key} in ${session}`, result);
    // The page was loaded again: it has left its runs.
    if (ended.outcome === "failed" && ended.error.code === "closed") return;
    this.results.push({ session, key, outcome: ended.outcome });
  }

  #record(
    call: SentCommand["call"],
    { id: session }: ClientSession,
    key: string,
    { accepted }: { readonly accepted: Promise<{ readonly accepted: boolean }> },
    rest: Pick<SentCommand, "text" | "target"> = {},
  ): void {
    const name = `${call} ${key} in ${session}`;
    const note = (outcome: SentCommand["outcome"]): unknown =>
      this.sent.push({ call, key, session, ...rest, outcome });
    void this.given.watch(name, accepted).then(
      (answer) => note(outcomeOf(answer)),
      () => note("unknown"),
    );
  }

  #key(): string {
    this.#keys += 1;
    return `page-${this.#keys}`.padEnd(16, "-");
  }
}

/** What a page that was reloaded had sent may have been stored. */
function outcomeOf(answer: object & { readonly accepted: boolean }): SentCommand["outcome"] {
  if (answer.accepted) return "accepted";
  const { error } = answer as { readonly error?: { readonly code: string } };
  return error?.code === "closed" ? "unknown" : "refused";
}

/** One page. It keeps its outbox when it is loaded again. */
class Page {
  readonly at: number;
  readonly #options: PagesOptions;
  readonly #onFault: (fault: string) => void;
  readonly #outbox = memoryOutbox();
  #client: Client | undefined;
  readonly #sessions = new Map<string, ClientSession>();

  constructor(at: number, options: PagesOptions, onFault: (fault: string) => void) {
    this.at = at;
    this.#options = options;
    this.#onFault = onFault;
    this.#load();
  }

  session(id: string): ClientSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new Error(`page ${this.at} has no ${id}`);
    return session;
  }

  reload(): void {
    this.close();
    this.#load();
  }

  close(): void {
    this.#client?.close();
  }

  #load(): void {
    const { url, sessions } = this.#options;
    const client = createClient({ url, token: "ann", outbox: this.#outbox });
    this.#client = client;
    for (const id of sessions) {
      const session = client.session(id);
      let shown = 0;
      session.subscribe(({ head }) => {
        if (head < shown) this.#onFault(`page ${this.at} of ${id} goes from ${shown} to ${head}`);
        shown = head;
      });
      this.#sessions.set(id, session);
    }
  }
}
