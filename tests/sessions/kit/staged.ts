import { defineAgent } from "@millrace/agent";
import type { Agent, AgentSettings, Run, RunResult, Session, Tool } from "@millrace/agent";
import type { Fact } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import { countingIds } from "@millrace/core/testing";
import { heldClock, rest, watched } from "./clock.ts";
import type { HeldClock } from "./clock.ts";

/** A session on a stage: its clock stands still, and its facts can be looked at. */
export interface Staged {
  readonly session: Session;
  readonly clock: HeldClock;
  readonly agent: Agent;
  readonly facts: () => Promise<readonly Fact[]>;
  /** Lets time pass in small steps, until the run has ended. */
  readonly ended: (run: Run) => Promise<RunResult>;
  /** A second process that takes the session up, maybe with another agent. */
  readonly reopen: (agent?: Agent) => Promise<Session>;
}

export async function stage(
  settings: (clock: HeldClock) => AgentSettings<readonly Tool[]>,
): Promise<Staged> {
  const clock = heldClock();
  const makeId = countingIds();
  // Without an index of drivers a run is taken over at once: on a stage no time passes by itself.
  const { drivers: _, ...store } = memorySessionStore({ clock, makeId });
  const agent = defineAgent(settings(clock)) as unknown as Agent;
  const open = async (opened: Agent): Promise<Session> =>
    await opened.open({ id: "s", store: { ...store }, clock, makeId });
  const session = await open(agent);
  const facts = async (): Promise<readonly Fact[]> => {
    const found = await store.find(session.id);
    return found === undefined ? [] : await store.read(found.uid);
  };
  const ended = async (run: Run): Promise<RunResult> => {
    const result = watched(run.result);
    for (let round = 0; round < 400 && result() === undefined; round += 1) {
      await rest();
      if (result() === undefined) clock.pass(100);
    }
    const came = result();
    if (came === undefined) throw new Error("the run does not end");
    return came;
  };
  return { session, clock, agent, facts, ended, reopen: (other = agent) => open(other) };
}
