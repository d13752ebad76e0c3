import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Command } from "../kit/deployment/command.ts";
import { modes, textOfDirective } from "../kit/deployment/directive.ts";
import type { SessionViewer } from "../kit/deployment/session-viewer.ts";
import type { Random } from "../kit/random.ts";
import { post } from "./commands.ts";
import type { SentCommand } from "./oracle.ts";

export interface PeopleOptions {
  readonly addresses: readonly string[];
  readonly random: Random;
  /** Sessions with what a person at each of them sees. */
  readonly screens: ReadonlyMap<string, SessionViewer>;
  /** The pause of a person between two things: at least, and at most. */
  readonly pauseMs: readonly [number, number];
}

/** How long a person tries to send one command. Longer than any fault of a history. */
const patienceMs = 40_000;

/** The people of a history: they prompt, steer, stop, take back and approve, each command under a key. */
export class People {
  readonly sent: SentCommand[] = [];
  readonly #options: PeopleOptions;
  /** The commands that no web node has answered yet, with their sessions. */
  readonly #posting = new Map<Promise<unknown>, string>();
  readonly #answered = new Set<string>();
  #keys = 0;

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /** Sends commands to all sessions until the signal is aborted. */
  async work(signal: AbortSignal): Promise<void> {
    const { screens, random } = this.#options;
    const [least, most] = this.#options.pauseMs;
    await Promise.all(
      [...screens.keys()].map(async (session) => {
        const recent: string[] = [];
        while (!signal.aborted) {
          this.#act(session, recent);
          const ms = least + random.next() * (most - least);
          await sleep(ms, undefined, { signal }).catch(() => undefined);
        }
      }),
    );
  }

  /** Answers every question, from two places with two decisions at once, until the signal is aborted. */
  async approve(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const [session, { state }] of this.#options.screens)
        for (const { asked, answer } of state?.approvals ?? []) {
          const target = asked.approvalId;
          if (answer !== undefined || this.#answered.has(target)) continue;
          this.#answered.add(target);
          void this.#send(session, { call: "allow", key: this.#key("allow"), target });
          void this.#send(session, { call: "deny", key: this.#key("deny"), target });
        }
      await sleep(100);
    }
  }

  /** Sends a prompt, and resolves with its key once a web node has answered. */
  async prompt(session: string): Promise<string> {
    const key = this.#key("probe");
    const text = textOfDirective({ key, mode: "plain", length: 20 });
    await this.#send(session, { call: "send", key, text });
    return key;
  }

  /** Resolves when every command was answered, or given up. */
  async settled(): Promise<void> {
    while (this.#posting.size > 0) await Promise.all(this.#posting.keys());
  }

  /** Whether a command is on its way to the session. One that arrives late begins a run then. */
  isPosting(session: string): boolean {
    return [...this.#posting.values()].includes(session);
  }

  #act(session: string, recent: string[]): void {
    const { random } = this.#options;
    const draw = random.next();
    const key = this.#key("p");
    const mode = random.pick(modes);
    const text = textOfDirective({ key, mode, length: 20 + random.below(160) });
    const target = random.pick(recent.slice(-3));
    if (draw < 0.1 && target !== undefined) {
      void this.#send(session, { call: "takeBack", key, target });
      return;
    }
    if (draw < 0.2) {
      void this.#send(session, { call: "abort", key });
      return;
    }
    const call = draw < 0.75 ? "send" : draw < 0.9 ? "steer" : "followUp";
    recent.push(`input_${key}`);
    const command = { call, key, text } as const;
    void this.#send(session, command);
    if (random.chance(0.2)) void this.#track(session, this.#post(session, command)); // pressed twice
  }

  #send(session: string, command: Command): Promise<void> {
    const sending = (async () => {
      const answer = await this.#post(session, command);
      const outcome = answer === undefined ? "unknown" : answer.accepted ? "accepted" : "refused";
      this.sent.push({ ...command, session, outcome });
    })();
    return this.#track(session, sending);
  }

  #track<T>(session: string, posting: Promise<T>): Promise<T> {
    this.#posting.set(posting, session);
    void posting.finally(() => this.#posting.delete(posting));
    return posting;
  }

  #post(session: string, command: Command): Promise<Answer | undefined> {
    return post(command, { session, addresses: this.#options.addresses, patienceMs });
  }

  #key(sort: string): string {
    this.#keys += 1;
    return `${sort}-${this.#keys}`.padEnd(16, "-");
  }
}
