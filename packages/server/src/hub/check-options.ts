import { checkOption, checkOptions, expects } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import type { CollectOptions, DeliverManyOptions, DeliverOptions, HubOptions } from "./options.ts";

const { above0, call, either, flag, from0, having, oneOf, optional, record, text, whole } = expects;

/** Throws `invalid_definition` for options of a hub that can't be used. */
export function checkHubOptions(options: unknown, from: Door["from"]): void {
  checkOptions<HubOptions>({ name: "createHub", from, spread: true }, options, {
    store: having(["find", "read", "head", "floors"], "pass the store of the sessions"),
    log: having(["tail", "read", "nudge"], "pass the log that the sessions are driven with"),
    clock: optional(
      having(
        ["now", "monotonic", "sleep", "after"],
        "pass a clock, such as systemClock of @millrace/core/memory, or leave it out",
      ),
    ),
    pollMs: optional(above0("a number of milliseconds")),
    lingerMs: optional(whole(0)),
    keptFacts: optional(whole(0)),
    snapshotBytes: optional(above0("a number of bytes")),
    keptMessages: optional(whole(1)),
    random: optional(
      call("pass a function that gives a number from 0 to below 1, or leave it out"),
    ),
    heartbeatMs: optional(above0("a number of milliseconds")),
    maxMs: optional(above0("a number of milliseconds")),
  });
}

/** Sessions on one stream. */
export const sessionsAtMost = 50;

type AnyWatch = DeliverOptions & CollectOptions;

/** Throws `invalid_definition` for a viewer's options that can't be used. */
export function checkWatchOptions(door: Door, options: unknown): void {
  checkOptions<AnyWatch>({ ...door, spread: true }, options, {
    uid: text("pass the uid of await store.find(sessionId)"),
    sessionId: text("pass the session's id"),
    cursor: optional(record("pass what decodeCursor of @millrace/core/wire gave, or leave it out")),
    signal: optional(having(["addEventListener"], "use the signal of an AbortController")),
    budget: optional(above0("a number of bytes")),
    form: optional(
      either(oneOf("steps", "whole"), having(["share"], ""), 'use "steps", "whole" or an Encoding'),
    ),
    until: optional(record("pass { runId, inputId, n } of the accepted prompt")),
    waitMs: optional(from0("a number of milliseconds")),
    maxBytes: optional(above0("a number of bytes")),
  });
}

/** Why something can't be delivered, or not there: `deliver` rejects with it. */
export function deliveryRefusal(door: Door, options: unknown, sink: unknown): Error | undefined {
  return thrownBy(() => {
    checkWatchOptions(door, options);
    checkSink(door, sink);
  });
}

/** The same for several sessions. */
export function manyRefusal(door: Door, options: unknown, sink: unknown): Error | undefined {
  return thrownBy(() => {
    checkOptions<DeliverManyOptions>(door, options, {
      sessions: {
        accepts: (value) => Array.isArray(value) && value.length <= sessionsAtMost,
        fix: `pass a list of at most ${sessionsAtMost} sessions`,
      },
      children: optional(flag),
      mayShow: optional(call("pass a function of a child's record that resolves to true or false")),
      form: optional(oneOf("steps", "whole")),
      signal: optional(having(["addEventListener"], "use the signal of an AbortController")),
    });
    for (const session of (options as DeliverManyOptions).sessions)
      // a list, as was checked
      if (!("ended" in session)) checkWatchOptions(door, session);
    checkSink(door, sink);
  });
}

function checkSink(door: Door, sink: unknown): void {
  checkOption(door, "the sink", sink, having(["bind", "open", "write"], "pass sseSink(response)"));
}

function thrownBy(check: () => void): Error | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
