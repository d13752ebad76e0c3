/** What may go wrong, and what people do meanwhile. */
export const faultKinds = [
  "crash",
  "zombie",
  "restart",
  "ack",
  "replace",
  "takeover",
  "reset",
  "late",
  "kill",
  "abort",
  "input",
  "flush",
  "evict",
  "tail",
  "drop",
  "hubcrash",
  "cut",
] as const;
/** One of them. */
export type FaultKind = (typeof faultKinds)[number];

/**
 * Rules that the actors here keep, and that can be left out to show that the properties notice it.
 * Those that core keeps are left out by the defects of tests/planted.
 */
export const rules = [
  "the log is re-seeded after a loss",
  "numbers go on after a loss of the log",
  "a gap that the log can't fill is put to the writer",
  "heads are polled from the store",
  "a silent lane appends its position",
  "stored before announced",
  "each start has its own generation",
  "only a lane's writer writes in it",
  "a poll moves no cursor",
] as const;
/** One of them. */
export type Rule = (typeof rules)[number];

/** How large a history is, and what happens in it. */
export interface Setting {
  /** The calls of each turn's reply; turns after the last have none. */
  readonly calls: readonly number[];
  /** Words that an attempt writes before it ends. */
  readonly words: number;
  readonly hubs: number;
  readonly viewers: number;
  readonly faults: number;
  readonly kinds: readonly FaultKind[];
  /** At most so many of a kind. */
  readonly left: Readonly<Partial<Record<FaultKind, number>>>;
  /** Faults in a hundred steps of a random walk. */
  readonly rate: number;
  /** The word at which an attempt restates its lane. */
  readonly wholeAt?: number;
  /** Attempts fall silent before they end: what is live must heal too. */
  readonly pause?: boolean;
  /** Hubs and viewers are there from the start. */
  readonly joined?: boolean;
  readonly without?: Rule;
}
