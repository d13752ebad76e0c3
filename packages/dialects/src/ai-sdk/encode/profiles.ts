/** A major version of the AI SDK, whose clients are spoken to in its own way. */
export type ProfileName = 5 | 6 | 7;

/** What clients of one major version understand. Read from their published sources. */
export interface Profile {
  readonly name: ProfileName;
  /** Chunks that take back the parts of the current step. */
  readonly resets: boolean;
  /** Chunks by which a call asks a person, and by which it is denied. */
  readonly asks: boolean;
  /** Chunks by which others than the one who answered learn of the answer. */
  readonly answers: boolean;
  /** A part for what a person says while a reply is written. */
  readonly steers: boolean;
  /** Whether a replay begins the message anew. Else its parts come after those that the page has. */
  readonly replays: boolean;
  /** Whether a part of reasoning has an id. */
  readonly namesReasoning: boolean;
  /** Where a call has arguments that are not usable: as `rawInput`, else as `input`. */
  readonly keepsRawInput: boolean;
  /** The reason for which a stopped reply ends. */
  readonly stopped: "interrupted" | "other";
}

/** The three profiles: `ai` 5.0.100, 6.0.326 and 7.0.169. */
export const profiles: Readonly<Record<ProfileName, Profile>> = {
  5: {
    name: 5,
    resets: false,
    asks: false,
    answers: false,
    steers: false,
    replays: false,
    namesReasoning: false,
    keepsRawInput: true,
    stopped: "other",
  },
  6: {
    name: 6,
    resets: false,
    asks: true,
    answers: false,
    steers: false,
    replays: true,
    namesReasoning: true,
    keepsRawInput: true,
    stopped: "other",
  },
  7: {
    name: 7,
    resets: true,
    asks: true,
    answers: true,
    steers: true,
    replays: true,
    namesReasoning: true,
    keepsRawInput: false,
    stopped: "interrupted",
  },
};
