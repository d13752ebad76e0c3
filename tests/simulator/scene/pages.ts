/** Pages of people: they watch all sessions of their user, send, answer and stop. */
import { createClient, memoryOutbox } from "@millrace/client";
import type { Client, ClientSession, ClientView } from "@millrace/client";
import { textOfDirective } from "../../kit/deployment/directive.ts";
import type { SentCommand } from "../../chaos/oracle.ts";
import { GivenPromises } from "../../kit/given-promises.ts";
import type { Report } from "../judge/report.ts";
import { viewJudge } from "../judge/views.ts";
import type { HttpNetwork } from "../world/http-network.ts";
import { SimulatedProcess } from "../world/simulated-process.ts";
import { simulation } from "../world/simulation.ts";
import type { WorldLedger } from "./ledger.ts";
import { clientHosts, sessionsOf, userOf } from "./plan.ts";
import type { Action } from "./plan.ts";

export interface PagesOptions {
  readonly network: HttpNetwork;
  readonly ledger: WorldLedger;
  readonly report: Report;
}

export interface ShownSession {
  readonly host: string;
  readonly id: string;
  readonly view: ClientView;
}

interface Page {
  readonly process: SimulatedProcess;
  readonly client: Client;
  readonly sessions: Map<string, ClientSession>;
}

/** How long a person looks at a question before answering it. */
const thinkMs = 300;

export class Pages {
  readonly promises = new GivenPromises(
    () => simulation().now,
    (line) => simulation().trace(line),
  );
  readonly sent: SentCommand[] = [];
  readonly #options: PagesOptions;
  readonly #pages = new Map<string, Page>();

  constructor(options: PagesOptions) {
    this.#options = options;
    for (const [at, host] of clientHosts.entries()) {
      const process = new SimulatedProcess(host, 1, simulation().seed);
      const { fetch } = options.network;
      const client = process.run(() =>
        createClient({ url: "http://web", token: host, outbox: memoryOutbox(), fetch }),
      );
      const page = { process, client, sessions: new Map() };
      this.#pages.set(host, page);
      for (const id of sessionsOf(userOf(host)))
        simulation().schedule(200 + at, process, `watches ${id}`, () => void this.#open(page, id));
    }
  }

  schedule(action: Action): void {
    const page = this.#page(action.host);
    const what = `${action.kind} ${action.session}`;
    simulation().schedule(action.at, page.process, what, () => this.#act(page, action));
  }

  reconnect(host: string): void {
    const { process, client } = this.#page(host);
    process.run(() => client.reconnect());
  }

  /** Each open session of each page. */
  shown(): readonly ShownSession[] {
    return [...this.#pages].flatMap(([host, { sessions }]) =>
      [...sessions].map(([id, session]) => ({ host, id, view: session.view() })),
    );
  }

  /** As when everybody leaves. */
  closeAll(): void {
    for (const { process, client } of this.#pages.values()) process.run(() => client.close());
  }

  killAll(): void {
    for (const { process } of this.#pages.values()) simulation().kill(process);
  }

  #page(host: string): Page {
    const page = this.#pages.get(host);
    if (page === undefined) throw new Error(`there is no page ${host}`);
    return page;
  }

  #open({ process, client, sessions }: Page, id: string): ClientSession {
    const known = sessions.get(id);
    if (known !== undefined) return known;
    const session = client.session(id);
    sessions.set(id, session);
    const { ledger, report } = this.#options;
    const judge = viewJudge(`${process.host} of ${id}`, ledger.written, report);
    const answered = new Set<string>();
    session.subscribe((view) => {
      judge(view);
      for (const { id: approvalId } of view.approvals) {
        if (answered.has(approvalId)) continue;
        answered.add(approvalId);
        setTimeout(() => this.#answer(process.host, session, approvalId), thinkMs);
      }
    });
    return session;
  }

  /** Two pages may answer one question, each in its own way: the first answer counts. */
  #answer(host: string, session: ClientSession, target: string): void {
    const call = simulation().process.random.chance(0.7) ? "allow" : "deny";
    const { accepted } = call === "allow" ? session.allow(target) : session.deny(target);
    this.#record(`${call} of ${session.id} by ${host}`, accepted, {
      call,
      key: `${call}-${host}-${target}`,
      target,
      session: session.id,
    });
  }

  #act(page: Page, { kind, session: id, key, length }: Action): void {
    const session = this.#open(page, id);
    const name = `${kind} ${key.slice(-4)} of ${id} by ${page.process.host}`;
    if (kind === "abort") {
      this.#record(name, session.abort().accepted, { call: "abort", key, session: id });
      return;
    }
    if (kind === "steer") {
      const text = textOfDirective({ key, mode: "plain", length });
      const { accepted, id: inputId } = session.steer(text);
      const sentKey = inputId.replace(/^input_/, "");
      this.#record(name, accepted, { call: "steer", key: sentKey, session: id, text });
      return;
    }
    const text = textOfDirective({ key, mode: kind, length });
    const { accepted, result } = session.send(text, { key });
    this.#record(name, accepted, { call: "send", key, session: id, text });
    void this.promises.watch(`result of ${name}`, result);
  }

  #record(
    what: string,
    accepted: Promise<{ readonly accepted: boolean }>,
    command: Omit<SentCommand, "outcome">,
  ): void {
    const record = (outcome: SentCommand["outcome"]): void =>
      void this.sent.push({ ...command, outcome });
    this.promises.watch(what, accepted).then(
      (answer) => record(answer.accepted ? "accepted" : "refused"),
      () => record("unknown"),
    );
  }
}
