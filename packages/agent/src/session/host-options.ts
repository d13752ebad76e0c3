import type { Actor, Fact } from "@millrace/core";
import type {
  BlobStore,
  Clock,
  EventLog,
  MakeId,
  SessionRecord,
  SessionStore,
} from "@millrace/core/ports";
import type { Blueprint } from "../definition/blueprint.ts";
import type { Observer } from "../definition/observer.ts";
import type { Schema } from "@millrace/core/schema";
import type { Allowance, AskMode } from "../definition/tool-host.ts";
import type { WorkHost } from "../work/host.ts";

export interface HostOptions {
  readonly record: SessionRecord;
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** In [0, 1). Left out: the machine's. */
  readonly random?: (() => number) | undefined;
  readonly ask: AskMode;
  /** `false`: this process sends and reads, and another process drives. */
  readonly drive: boolean;
  /** Makes what drives the session here. Left out: the inline driver. */
  readonly makeDriver?: MakeDriver | undefined;
  readonly allowance?: Allowance | undefined;
  readonly depth?: number | undefined;
  readonly runsOnce?: boolean | undefined;
}

/** Options of a run that can't be stored with its input. Only the process that sent it has them. */
export interface SenderOptions {
  readonly output: Schema | undefined;
  readonly ask: AskMode | undefined;
  /** The person who sent it, for the decisions of `ask`. */
  readonly actor: Actor | undefined;
  /** Ends the sending of the input, if it is not stored because the store is away. */
  readonly signal: AbortSignal | undefined;
  /** Called if the run fails, or if this process can't learn any more how it ends. */
  readonly onFailed?:
    | ((cause: { readonly code: string; readonly message: string }) => void)
    | undefined;
}

/** What drives a session in this process: the inline driver, or that of an engine's steps. */
export interface LocalDriver {
  /** Called after every fact, in order, and whenever the driver should decide again. */
  readonly wake: (fact?: Fact) => void;
  readonly close: () => Promise<void>;
}

/** `onBroken` is called if a port breaks its contract: then nothing may be done any more. */
export type MakeDriver = (host: WorkHost, onBroken: (error: unknown) => void) => LocalDriver;
