import { checkOption, checkOptions, expects } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import type { HubOptions, WatchOptions } from "./hub.ts";

const { above0, having, optional, record, text, whole } = expects;

/** Throws `invalid_definition` for options of a hub that can't be used. */
export function checkHubOptions(options: unknown, from: Door["from"]): void {
  checkOptions<HubOptions>({ name: "createHub", from, spread: true }, options, {
    store: having(["find", "read", "head", "floors"], "pass the store of the sessions"),
    log: having(["tail", "read", "nudge"], "pass the log that the sessions are driven with"),
    clock: optional(
      having(
        ["now", "monotonic", "sleep"],
        "pass a clock, such as systemClock of @millrace/core/memory, or leave it out",
      ),
    ),
    pollMs: optional(above0("a number of milliseconds")),
    lingerMs: optional(whole(0)),
    keptFacts: optional(whole(0)),
    snapshotBytes: optional(above0("a number of bytes")),
    keptMessages: optional(whole(1)),
  });
}

/** Throws `invalid_definition` for a viewer's options that can't be used. */
export function checkWatchOptions(door: Door, options: unknown): void {
  checkOptions<WatchOptions>({ ...door, spread: true }, options, {
    uid: text("pass the uid of await store.find(sessionId)"),
    sessionId: text("pass the session's id"),
    cursor: optional(record("pass what decodeCursor of @millrace/core/wire gave, or leave it out")),
    signal: optional(having(["addEventListener"], "use the signal of an AbortController")),
  });
}

/** Why something can't be delivered, or not there: `deliver` rejects with it. */
export function deliveryRefusal(door: Door, options: unknown, sink: unknown): Error | undefined {
  try {
    checkWatchOptions(door, options);
    const fix = "pass sseSink(response)";
    checkOption(door, "the sink", sink, having(["bind", "open", "write"], fix));
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
