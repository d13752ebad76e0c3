import type { Item } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { defineAgent } from "../define/define-agent.ts";
import type { ActiveRun, Respond } from "../definition/settings.ts";
import { writtenIn } from "./respond.ts";

/** Blocks the agent's code at its first `wait`, until the run is aborted. Later calls pass. */
export class Gate {
  readonly reached = Promise.withResolvers<void>();
  #passed = false;

  readonly wait = async ({ signal }: Pick<ActiveRun, "signal">): Promise<void> => {
    if (this.#passed) return;
    this.#passed = true;
    this.reached.resolve();
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  };
}

/** The stored items and the outcome of the run. */
export interface Ended {
  readonly items: readonly Item[];
  readonly outcome: string | undefined;
}

/** Closes the session when the agent reaches the gate, opens it again, and returns the end of its run. */
export async function drivenTwice(gate: Gate, respond: Respond): Promise<Ended> {
  const ports = { store: memorySessionStore(), log: memoryEventLog() };
  const agent = defineAgent({ respond });
  const first = await agent.open({ id: "s", ...ports });
  const { id: sessionId } = first;
  first.send("go");
  await gate.reached.promise;
  await first.close();
  await using second = await agent.open({ id: "s", ...ports });
  const result = await second.run?.result;
  return { items: (await writtenIn(ports.store, sessionId)).items, outcome: result?.outcome };
}
