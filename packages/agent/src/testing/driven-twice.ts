import type { Item } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { defineAgent } from "../define/define-agent.ts";
import type { ActiveRun, Respond } from "../definition/settings.ts";
import { writtenIn } from "./respond.ts";

/** Waits inside the agent's code, the first time that it comes there. */
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

/** What became of the run. */
export interface Ended {
  readonly items: readonly Item[];
  readonly outcome: string | undefined;
}

/** Leaves the session where the gate is, as a crash would, and drives it again. */
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
