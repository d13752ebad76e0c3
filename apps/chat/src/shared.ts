/** What the page asks the server for when it is loaded, as `/config.json`. */
export interface ChatConfig {
  /** The models that a new session can choose from; the first one is chosen. */
  readonly models: readonly ChatModel[];
  /** Tools that are agents: their calls open as sessions of their own. */
  readonly subAgents: readonly string[];
}

export interface ChatModel {
  readonly id: string;
  readonly name: string;
  /** The most tokens of its input. Left out: unknown, and shown so. */
  readonly window?: number | undefined;
}

/** The field of a session's metadata that names its model. */
export const modelField = "model";

/** What an empty session suggests: a name, what it shows, and the prompt. The demo's model has a reply for each. */
export const ideas = {
  investigate: {
    title: "Investigate",
    shows: "Reasoning, tools with progress, one that fails, an approval",
    prompt: "Checkout p95 doubled since Tuesday. Find out why and suggest a fix.",
  },
  delegate: {
    title: "Delegate",
    shows: "A sub-agent that works in a session of its own",
    prompt: "Let a colleague read the runbook on indexes.",
  },
  explain: {
    title: "Explain",
    shows: "A long answer with code and a table",
    prompt: "How does text reach this page?",
  },
  fail: {
    title: "Fail",
    shows: "What a failed reply looks like",
    prompt: "Show me a reply that fails.",
  },
} as const;
