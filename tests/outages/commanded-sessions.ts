import type { Fact, SessionUid } from "@millrace/core";
import { post } from "../kit/deployment/command.ts";
import type { Command } from "../kit/deployment/command.ts";
import type { Deployment } from "../kit/deployment/deployment.ts";
import { textOfDirective } from "../kit/deployment/directive.ts";
import type { Directive } from "../kit/deployment/directive.ts";
import { until } from "../kit/until.ts";

/** A session, and the command that it waits for. */
interface Commanded {
  readonly name: "approval" | "prompt" | "stop";
  readonly session: string;
  readonly uid: SessionUid;
}

/** How long a command took from the moment at which it was sent until a driver acted on it. */
export interface Effected {
  readonly name: Commanded["name"];
  readonly ms: number;
}

/** Three sessions: one waits for an approval, one is idle, one streams a reply that is to be stopped. */
export class CommandedSessions {
  readonly #deployment: Deployment;
  readonly #prefix: string;
  readonly #sessions: Commanded[] = [];

  private constructor(deployment: Deployment, prefix: string) {
    this.#deployment = deployment;
    this.#prefix = prefix;
  }

  /** Begins the sessions and waits until each is in its state. */
  static async begin(deployment: Deployment, prefix: string): Promise<CommandedSessions> {
    const sessions = new CommandedSessions(deployment, prefix);
    await Promise.all([
      sessions.#add("approval", { mode: "ask", length: 10 }, isOfType("approval_requested")),
      sessions.#add("prompt", { mode: "plain", length: 10 }, isOfType("run_finished")),
      sessions.#add("stop", { mode: "plain", length: 4_000 }, isOfType("turn_started")),
    ]);
    return sessions;
  }

  get uids(): readonly SessionUid[] {
    return this.#sessions.map(({ uid }) => uid);
  }

  /** Sends each session its command, and measures until a driver has acted on it. */
  async command(limitMs: number): Promise<readonly Effected[]> {
    const start = performance.now();
    const { store } = this.#deployment;
    return await Promise.all(
      this.#sessions.map(async ({ name, session, uid }): Promise<Effected> => {
        const facts = await store.read(uid);
        await this.#post(session, commandFor(name, facts, `${session}-next`));
        await until(
          async () => (await store.read(uid, { after: facts.length })).some(actsOn[name]),
          `the ${name} of ${session} takes effect`,
          { limitMs, everyMs: 40 },
        );
        return { name, ms: performance.now() - start };
      }),
    );
  }

  async #add(
    name: Commanded["name"],
    asked: Pick<Directive, "mode" | "length">,
    isReady: (fact: Fact) => boolean,
  ): Promise<void> {
    const { store } = this.#deployment;
    const session = `${this.#prefix}-${name}`;
    const { uid } = await store.create({ sessionId: session });
    this.#sessions.push({ name, session, uid });
    const text = textOfDirective({ key: session, ...asked });
    await this.#post(session, { call: "send", key: session, text });
    await until(async () => (await store.read(uid)).some(isReady), `${session} is ready`, {
      everyMs: 50,
    });
  }

  async #post(session: string, command: Command): Promise<void> {
    const { addresses } = this.#deployment;
    const answer = await post(command, { session, addresses, patienceMs: 30_000 });
    if (answer?.accepted !== true)
      throw new Error(`${command.call} to ${session}: ${JSON.stringify(answer)}`);
  }
}

function isOfType(type: Fact["type"]): (fact: Fact) => boolean {
  return (fact) => fact.type === type;
}

/** The fact by which a driver acts on each command. */
const actsOn: Readonly<Record<Commanded["name"], (fact: Fact) => boolean>> = {
  approval: isOfType("tool_execution_started"),
  prompt: isOfType("run_started"),
  stop: isOfType("run_finished"),
};

function commandFor(name: Commanded["name"], facts: readonly Fact[], key: string): Command {
  if (name === "stop") return { call: "abort", key };
  if (name === "prompt") {
    const text = textOfDirective({ key, mode: "plain", length: 10 });
    return { call: "send", key, text };
  }
  const asked = facts.find((fact) => fact.type === "approval_requested");
  return { call: "allow", key, target: asked?.approvalId };
}
