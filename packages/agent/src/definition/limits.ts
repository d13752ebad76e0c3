/** What a run may spend. A limit that is left out is the agent's, and then the default. */
export interface Limits {
  /** Model replies. */
  readonly turns?: number | undefined;
  /** Wall-clock time since the run started, waiting for people included. */
  readonly seconds?: number | undefined;
  /** Input and output tokens of all attempts, sub-agents included. */
  readonly tokens?: number | undefined;
  /** In US dollars, where the price of a reply is known. */
  readonly cost?: number | undefined;
  /** How often the same call, or the same sequence of up to four calls, may come in a row. */
  readonly repeats?: number | undefined;
}

export const defaultLimits: Limits = { turns: 200, seconds: 7_200, repeats: 3 };
