import type { FactBody } from "@millrace/core/writing";
import type { Epochs, WorkHost } from "../work/host.ts";
import type { TurnMemory } from "./turn-memory.ts";
import type { Begins } from "./under-way.ts";
import type { ToolHost } from "../definition/tool-host.ts";
import type { Epoch } from "@millrace/core/ports";
import type { ItemId } from "@millrace/core";
import type { Ahead } from "../work/item-lane.ts";

/** The part of a driver that `begin` and `record` use. Made once by each `Driver`. */
export interface DriveContext {
  readonly host: WorkHost;
  readonly epochs: Epochs;
  readonly underWay: Begins;
  readonly memory: TurnMemory;
  /** Whether the lane of a reply is opened together with its turn: only where the same driver writes it. */
  readonly opensReplies: boolean;
  /** Stores facts that are true at any head. Resolves once they are stored. */
  readonly report: (bodies: readonly FactBody[]) => Promise<void>;
  /** The facts that end turn and run after an item is stored. `done` is the work that stores it. */
  readonly ahead: (done: { readonly reply: true } | { readonly call: ItemId }) => Ahead;
  /** What a tool uses to run a sub-agent inside this run's budget. */
  readonly toolHost: (epoch: Epoch) => ToolHost;
}
