import { equalJson } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { modelName } from "./encode/response-json.ts";
import { Problem } from "@millrace/server/dialect";

/** A field of a request that the agent does not take. */
interface Untaken {
  /** Values that ask for what happens anyway. */
  readonly same?: readonly Json[];
  /** Why not, and what to do instead. */
  readonly instead: string;
}

const ownSettings = "the agent has its own settings: leave it out";
const ownTools = "the agent has its own tools: leave it out";
const ownCache = "the agent decides what is cached: leave it out";
const whoSignsIn = "the user is who signs in: leave it out";

/** What both formats have. */
const shared: Readonly<Record<string, Untaken>> = {
  model: {
    same: [modelName],
    instead: `the agent has its own model: send "${modelName}", or leave it out`,
  },
  store: { same: [true], instead: "what is said is always stored: leave it out" },
  tools: { same: [[]], instead: ownTools },
  tool_choice: { same: ["auto"], instead: ownTools },
  parallel_tool_calls: { same: [true], instead: ownSettings },
  temperature: { instead: ownSettings },
  top_p: { instead: ownSettings },
  top_logprobs: { same: [0], instead: ownSettings },
  service_tier: { same: ["auto"], instead: ownSettings },
  moderation: { instead: ownSettings },
  access_programs: { instead: ownSettings },
  prompt_cache_key: { instead: ownCache },
  prompt_cache_options: { instead: ownCache },
  prompt_cache_retention: { instead: ownCache },
  user: { instead: whoSignsIn },
  safety_identifier: { instead: whoSignsIn },
};

/** What a request for a response may have and the agent does not take. */
export const responseFields: Readonly<Record<string, Untaken>> = {
  ...shared,
  instructions: {
    instead: "the agent has its own instructions: leave it out, or say it in the input",
  },
  include: { same: [[]], instead: "a response has all that there is: leave it out" },
  stream_options: { same: [{}, { include_obfuscation: false }], instead: "leave it out" },
  truncation: {
    same: ["disabled"],
    instead: "the agent keeps its context within bounds: leave it out",
  },
  context_management: { instead: "the agent keeps its context within bounds: leave it out" },
  max_output_tokens: { instead: ownSettings },
  max_tool_calls: { instead: ownSettings },
  reasoning: { instead: ownSettings },
  image: { instead: ownSettings },
  prompt: { instead: "there are no stored prompts: send the text as input" },
};

/** What a request for a completion may have and the agent does not take. */
export const completionFields: Readonly<Record<string, Untaken>> = {
  ...shared,
  n: { same: [1], instead: "the agent gives one answer: leave it out" },
  modalities: { same: [["text"]], instead: ownSettings },
  frequency_penalty: { same: [0], instead: ownSettings },
  presence_penalty: { same: [0], instead: ownSettings },
  logit_bias: { instead: ownSettings },
  logprobs: { same: [false], instead: ownSettings },
  max_tokens: { instead: ownSettings },
  max_completion_tokens: { instead: ownSettings },
  reasoning_effort: { instead: ownSettings },
  seed: { instead: ownSettings },
  stop: { instead: ownSettings },
  verbosity: { instead: ownSettings },
  audio: { instead: ownSettings },
  prediction: { instead: ownSettings },
  web_search_options: { instead: ownTools },
  functions: { instead: ownTools },
  function_call: { instead: ownTools },
  metadata: { same: [{}], instead: "a completion keeps none: use Responses, or leave it out" },
};

/** Throws for what a request sets and the agent does not take: nothing that is set may vanish. */
export function refuseUntaken(
  body: JsonObject,
  taken: readonly string[],
  untaken: Readonly<Record<string, Untaken>>,
): void {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || taken.includes(name)) continue;
    const known = Object.hasOwn(untaken, name) ? untaken[name] : undefined;
    const pointer = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (known === undefined)
      throw new Problem("invalid_request", `${name.slice(0, 64)}: no such field`, { pointer });
    if (known.same?.some((same) => equalJson(same, value)) === true) continue;
    throw new Problem("invalid_request", `${name}: ${known.instead}`, { pointer });
  }
}
