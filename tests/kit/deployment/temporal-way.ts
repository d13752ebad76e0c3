/** How a node of a deployment reaches Temporal. */
export interface TemporalWay {
  readonly temporal: {
    /** Host and port. */
    readonly address: string;
    readonly taskQueue: string;
  };
}

/** What a worker of Temporal has beside its agent. */
export interface TemporalWorkerWay extends TemporalWay {
  /** The file with the bundled workflows. */
  readonly workflows: string;
  readonly heartbeatMs: number;
  readonly drainMs?: number | undefined;
}
