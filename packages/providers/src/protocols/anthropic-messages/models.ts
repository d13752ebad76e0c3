/**
 * The number in a model's name: 405 for `claude-sonnet-4-5`, 307 for `claude-3-7-sonnet`. Names are those
 * of the vendor, of clouds and of gateways; some end with a date. Names before 4 have the number first.
 */
export function claudeVersion(model: string): number | undefined {
  const later = /claude-[a-z]+-(\d{1,2})(?!\d)(?:[.-](\d{1,2})(?!\d))?/.exec(model);
  const former = /claude-(?:v|instant-)?(\d)(?!\d)(?:[.-](\d)(?!\d))?/.exec(model);
  const [, major, minor = 0] = later ?? former ?? [];
  return major === undefined ? undefined : Number(major) * 100 + Number(minor);
}

/**
 * What is known of a model. A name without a version counts as the newest of its vendor. From
 * https://platform.claude.com/docs/en/about-claude/models/overview and the pages on thinking and effort.
 */
export interface Claude {
  /** It has `output_config.effort`. */
  readonly hasEffort: boolean;
  /** It decides by itself how long it thinks. */
  readonly isAdaptive: boolean;
  /** It thinks without being asked. */
  readonly thinksByItself: boolean;
  readonly canThink: boolean;
  readonly canStopThinking: boolean;
  /** It takes a budget of tokens for thinking. */
  readonly takesBudget: boolean;
  readonly takesSampling: boolean;
  /** It takes temperature or topP, but not both. */
  readonly oneSampler: boolean;
  readonly takesForcedChoice: boolean;
  /** It takes messages of the system among the others, with which instructions and tools change. */
  readonly takesUpdates: boolean;
  /** What it thought is valid only behind what stood before it then. */
  readonly bindsThinking: boolean;
  /** It writes signed summaries on request. */
  readonly summarises: boolean;
  /** The word for the most effort. */
  readonly most: "high" | "max";
}

export function claude(model: string): Claude {
  const isClaude = model.includes("claude");
  const version = claudeVersion(model) ?? (isClaude ? 1000 : undefined);
  // Another vendor's model behind this API: budgets are what such servers imitate.
  if (version === undefined) return another;
  const isLatest = version >= 407 && version < 1000;
  return {
    hasEffort: version >= 406 || /opus-4[.-]5(?!\d)/.test(model),
    isAdaptive: version >= 406,
    thinksByItself: version >= 500,
    canThink: version >= 307,
    canStopThinking: !/(?:opus|sonnet)-5[.-]5(?!\d)|fable-5(?!\d)/.test(model),
    takesBudget: version >= 307 && !isLatest,
    takesSampling: !isLatest,
    oneSampler: version >= 401,
    takesForcedChoice: !/(?:opus|sonnet)-5[.-]5(?!\d)|fable-5[.-][12](?!\d)/.test(model),
    takesUpdates:
      /opus-(?:4[.-]8|5)(?!\d)|(?:sonnet|haiku)-5[.-]5(?!\d)|(?:fable|mythos)-[5-9]/.test(model),
    bindsThinking: /(?:opus|sonnet|haiku)-5[.-]5(?!\d)|(?:fable|mythos)-5[.-][12](?!\d)/.test(
      model,
    ),
    summarises: version >= (model.includes("haiku") ? 505 : 406) && version < 1000,
    most: version >= 406 ? "max" : "high",
  };
}

const another: Claude = {
  hasEffort: false,
  isAdaptive: false,
  thinksByItself: false,
  canThink: true,
  canStopThinking: true,
  takesBudget: true,
  takesSampling: true,
  oneSampler: false,
  takesForcedChoice: true,
  takesUpdates: false,
  bindsThinking: false,
  summarises: false,
  most: "max",
};
