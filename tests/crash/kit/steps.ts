import type { Agent, OpenOptions, Run, SentInput, Session } from "@millrace/agent";
import { callId, sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { MakeId, SessionStore } from "@millrace/core/ports";
import { randomId } from "@millrace/core/memory";
import type { Scenario, Trigger, UserStep } from "../scenario.ts";
import type { Boundaries } from "./boundaries.ts";
import type { Gates } from "./gates.ts";
import type { Tally } from "./tally.ts";

/** The name of the session that a script is about. */
export const mainSession = "main";

/** The id of the input that a step sends: the same in every process. */
export function stepInputId(index: number): string {
  return `input_step${index}`;
}

export interface StepPorts {
  readonly agent: Agent;
  readonly ports: Pick<OpenOptions, "log"> & { readonly store: SessionStore };
  readonly gates: Gates;
  readonly boundaries: Boundaries;
  /** The steps that were accepted, by place. */
  readonly acks: Tally;
}

/** Does what the user does, from the first step that was not accepted, until nothing is left to do. */
export async function performScript(scenario: Scenario, parts: StepPorts): Promise<void> {
  const user = new User(scenario, parts);
  await user.perform();
}

class User {
  readonly #scenario: Scenario;
  readonly #parts: StepPorts;
  readonly #runs: Run[] = [];
  readonly #open: Session[] = [];
  /** The id that the next input gets. */
  #next: string | undefined;

  constructor(scenario: Scenario, parts: StepPorts) {
    this.#scenario = scenario;
    this.#parts = parts;
  }

  async perform(): Promise<void> {
    const { acks, gates, boundaries } = this.#parts;
    const { script } = this.#scenario;
    const accepted = new Set(acks.lines().map(Number));
    for (const [index, { opens }] of script.entries())
      if (accepted.has(index) && opens !== undefined) gates.open(opens);
    const before = await this.#facts();
    const session = await this.#openSession(mainSession);
    for (const [index, step] of script.entries()) {
      const isKnown = accepted.has(index);
      // The result of a prompt is not stored, so its sender sends it again after a crash, and at once,
      // since the run goes on already.
      if (isKnown && step.do !== "send" && step.do !== "fork") continue;
      if (!isKnown && !isStored(before, index, step)) await this.#until(session, step.when);
      await this.#take(session, index, step);
      if (isKnown) continue;
      boundaries.cross("before an acknowledgement");
      acks.add(String(index));
      boundaries.cross("after an acknowledgement");
      if (step.opens !== undefined) gates.open(step.opens);
    }
    for (const run of this.#runs) await run.result;
    await this.#until(session, { idle: this.#scenario.leaves ?? 0 });
    for (const opened of this.#open.toReversed()) await opened.close();
  }

  async #openSession(id: string): Promise<Session> {
    const { agent, ports } = this.#parts;
    const makeId: MakeId = (sort) =>
      sort === "input" && this.#next !== undefined ? this.#next : randomId(sort);
    const { transcript } = this.#scenario;
    const session = await agent.open({ id, ...ports, makeId, transcript });
    this.#open.push(session);
    return session;
  }

  async #take(session: Session, index: number, step: UserStep): Promise<void> {
    if (step.do === "fork") return await this.#fork(session, index, step);
    const isReply = step.do === "allow" || step.do === "deny";
    const facts = isReply ? await this.#facts() : [];
    const answer = await this.#send(session, index, step, facts).accepted;
    if (answer.accepted || isStored(await this.#facts(), index, step)) return;
    throw new Error(`step ${index} (${step.do}) was refused: ${answer.error.message}`);
  }

  #send(
    session: Session,
    index: number,
    step: Exclude<UserStep, { readonly do: "fork" }>,
    facts: readonly Fact[],
  ): Pick<SentInput, "accepted"> {
    this.#next = stepInputId(index);
    try {
      switch (step.do) {
        case "send":
          return this.#prompt(session, step);
        case "steer":
          return session.steer(step.text);
        case "followUp":
          return session.followUp(step.text);
        case "takeBack":
          return session.takeBack(stepInputId(step.step));
        case "abort":
          return session.abort(undefined, { key: `step${index}` });
        case "allow":
          return session.allow(question(facts, step.question));
        case "deny":
          return session.deny(question(facts, step.question), "no");
        case "answer":
          return session.answer(callId(step.callId), step.output);
        default:
          step satisfies never;
          throw new Error("no such step");
      }
    } finally {
      this.#next = undefined;
    }
  }

  #prompt(
    session: Session,
    { text, limits, output }: Pick<Extract<UserStep, { do: "send" }>, "text" | "limits" | "output">,
  ): Pick<SentInput, "accepted"> {
    const run = session.send(text, { limits, ...(output === undefined ? {} : { output }) });
    this.#runs.push(run as Run);
    return { accepted: run.until("input_accepted").then(() => ({ accepted: true })) };
  }

  async #fork(
    session: Session,
    index: number,
    { item, as, text }: Extract<UserStep, { do: "fork" }>,
  ): Promise<void> {
    const { store } = this.#parts.ports;
    const exists = (await store.find(sessionId(as))) !== undefined;
    const { id } = session.transcript[item] ?? fail(`there is no item ${item} to fork at`);
    const branch = exists ? await this.#openSession(as) : await session.fork(id, as);
    if (!exists) this.#open.push(branch);
    this.#next = stepInputId(index);
    const sent = this.#prompt(branch, { text });
    this.#next = undefined;
    if (!(await sent.accepted).accepted) fail(`the prompt of ${as} was refused`);
  }

  async #until(session: Session, trigger: Trigger | undefined): Promise<void> {
    if (trigger === undefined) return;
    while (!(await this.#happened(session, trigger)))
      await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async #happened(session: Session, trigger: Trigger): Promise<boolean> {
    if ("idle" in trigger) return session.run === undefined && session.queue.length <= trigger.idle;
    if ("waits" in trigger) return this.#parts.gates.isWaitedAt(trigger.waits);
    const facts = await this.#facts();
    if ("asked" in trigger) return questions(facts).length >= trigger.asked;
    return facts.some(
      (fact) => fact.type === "tool_execution_started" && fact.callId === trigger.started,
    );
  }

  async #facts(id: string = mainSession): Promise<readonly Fact[]> {
    const { store } = this.#parts.ports;
    const record = await store.find(sessionId(id));
    return record === undefined ? [] : await store.read(record.uid);
  }
}

/** Whether the step's input is there already: the answer to it was lost, not the input. */
function isStored(facts: readonly Fact[], index: number, step: UserStep): boolean {
  return facts.some((fact) => {
    if (step.do === "takeBack")
      return fact.type === "queue_updated" && fact.inputId === stepInputId(step.step);
    if (step.do === "allow" || step.do === "deny")
      return (
        fact.type === "approval_resolved" &&
        fact.approvalId === questions(facts)[step.question - 1] &&
        fact.decision === step.do
      );
    if (fact.type !== "input_accepted") return false;
    return step.do === "answer"
      ? fact.input.kind === "answer" && fact.input.callId === step.callId
      : fact.inputId === stepInputId(index);
  });
}

function questions(facts: readonly Fact[]): readonly string[] {
  return facts.flatMap((fact) => (fact.type === "approval_requested" ? [fact.approvalId] : []));
}

type QuestionId = Parameters<Session["allow"]>[0];

function question(facts: readonly Fact[], number: number): QuestionId {
  const asked = facts.filter((fact) => fact.type === "approval_requested")[number - 1];
  return asked?.approvalId ?? fail(`there is no question ${number}`);
}

function fail(message: string): never {
  throw new Error(message);
}
