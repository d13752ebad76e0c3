// What makes a model of a vendor's replies, without the stores and lanes that `ports` and `writing` have beside
// it: a program that only asks a model loads nothing else.
export { parseArguments } from "./content/arguments.ts";
export { repairTranscript } from "./content/transcript.ts";
export { addUsage } from "./content/usage.ts";
export { commitOf } from "./delta/commit.ts";
export { wholeText } from "./delta/delta.ts";
export { defaultDraftLimits } from "./delta/draft.ts";
export { callId, itemId, partId } from "./ids.ts";
export { List } from "./list.ts";
export { abortedCause, createModelStream } from "./ports/model-stream.ts";
export { defaultRetryPolicy, retryDelay } from "./ports/retry.ts";
export { systemClock } from "./reference/system.ts";
