/** What happened outside of all processes: requests that the vendor answered, and effects of tools. */
import type { Effect } from "../../kit/deployment/paced-agent.ts";
import { simulation } from "../world/simulation.ts";

export class WorldLedger {
  readonly effects: Effect[] = [];
  /** The whole text of each reply of the vendor, by its nonce. */
  readonly written = new Map<string, string>();

  recordEffect(effect: Effect): void {
    this.effects.push(effect);
    simulation().trace(`effect of ${effect.tool} in ${effect.node}`);
  }

  recordReply(nonce: string, text: string): void {
    this.written.set(nonce, text);
    simulation().trace(`reply ${nonce} begins`);
  }
}
