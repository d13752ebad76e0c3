// The ports for one process, with the full semantics: log and store in memory, the machine's clock,
// random ids.
export { memoryEventLog } from "./reference/memory-event-log.ts";
export type { MemoryEventLog } from "./reference/memory-event-log.ts";
export { memorySessionStore } from "./reference/memory-session-store.ts";
export { SessionLedger } from "./reference/session-ledger.ts";
export type { EarlierFacts, LookupEntry, Reset } from "./reference/session-ledger.ts";
export { memoryBlobs } from "./reference/memory-blobs.ts";
export type { MemoryBlobsOptions } from "./reference/memory-blobs.ts";
export { memoryCounters } from "./reference/memory-counters.ts";
export { steadyNow, systemClock } from "./reference/system.ts";
export { idsFrom, randomId, systemRandom, uniqueName } from "./ports/clock.ts";
