// For tests of agents, and for trying things out without a vendor: a model that replies by a script, a
// clock that is moved by hand, ids that count, a session as text.
export { scriptedModel } from "./reference/scripted-model.ts";
export { call, callRaw, emit, fail, say, stall, think, truncate } from "./reference/script.ts";
export type { ScriptedPart, ScriptedReply } from "./reference/script.ts";
export { manualClock } from "./reference/manual-clock.ts";
export type { ManualClock } from "./reference/manual-clock.ts";
export { countingIds } from "./reference/system.ts";
export { trace } from "./reference/trace.ts";
