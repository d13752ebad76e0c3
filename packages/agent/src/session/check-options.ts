import { checkOption, checkOptions, expects } from "@millrace/core/checks";
import type { Door, OptionCheck } from "@millrace/core/checks";
import { checkLimits, observersCheck } from "../definition/check-settings.ts";
import { schemaCheck } from "../definition/check-tool.ts";
import type { OpenOptions } from "./open.ts";
import type { RunOptions } from "./session.ts";

const { anything, call, flag, having, list, optional, record, text } = expects;

/** Any store with its reading and writing calls. */
const storeCheck: OptionCheck = having(
  ["create", "find", "read", "accept", "claim", "append"],
  'pass a store, such as fileStore("sessions") of @millrace/stores/file',
);

/** Any log. */
export const logCheck: OptionCheck = having(
  ["append", "tail", "announce", "nudge"],
  "pass a log, such as redisLog({ url }) of @millrace/stores/redis or memoryEventLog() of @millrace/core/memory",
);

/** Any blob store. */
export const blobsCheck: OptionCheck = having(
  ["put", "find", "read"],
  'pass a blob store, such as fileBlobs("sessions") of @millrace/stores/file',
);

/** Any clock. */
export const clockCheck: OptionCheck = having(
  ["now", "monotonic", "sleep", "after"],
  "pass a clock, such as systemClock of @millrace/core/memory, or leave it out",
);

/** Any source of chance. */
export const randomCheck: OptionCheck = call(
  "pass a function that gives a number from 0 to below 1, or leave it out",
);

const openHints = {
  sessionId: "write it as id",
  name: "write it as id",
  messages: "earlier items are the transcript",
  signal: "pass it to send: it stops a run",
  observers: "they belong to defineAgent, or to send for one run",
};

/** Throws `invalid_definition` for options of `agent.open` that can't be used. */
export function checkOpenOptions(options: unknown, from: Door["from"]): void {
  checkOptions<OpenOptions>({ name: "agent.open", from, hints: openHints, spread: true }, options, {
    id: optional(text("use the session's name, or leave it out for a new one")),
    store: optional(storeCheck),
    log: optional(logCheck),
    blobs: optional(blobsCheck),
    drive: optional(flag),
    transcript: optional(list("use a list of items, such as session.transcript")),
    metadata: optional(record("use an object of JSON values")),
    owner: optional(text("use the user's id in your application")),
    title: optional(text("use a text of 1 to 512 characters")),
    actor: optional(record('use an object such as { user: "u_17" }')),
    clock: optional(clockCheck),
    makeId: optional(call()),
    random: optional(randomCheck),
  });
}

/** Names of options in other libraries. */
export const runHints: Door["hints"] = {
  abortSignal: "write it as signal",
  timeout: "write signal: AbortSignal.timeout(milliseconds), or limits: { seconds: … }",
  maxSteps: "write limits: { turns: … }",
  maxTurns: "write limits: { turns: … }",
  schema: "write it as output",
  onApproval: "write it as ask",
};

const contentFix =
  "a prompt is a text, or a list of texts and files; earlier items are the transcript of agent.open";

/** Throws `invalid_definition` for a prompt that is neither text nor a list of texts and files. */
export function checkContent(door: Door, content: unknown): void {
  if (typeof content === "string") return;
  checkOption(door, "the prompt", content, list(contentFix));
  for (const [index, piece] of (content as readonly unknown[]).entries()) {
    if (typeof piece === "string") continue;
    checkOption(door, `the prompt's [${index}]`, piece, having(["arrayBuffer"], contentFix));
  }
}

/** Throws `invalid_definition` for options of a run that can't be used. */
export function checkRunOptions(door: Door, options: unknown): void {
  checkOptions<RunOptions>(door, options, {
    // The inbox checks keys and actors, which may come from outside, and answers what is wrong.
    key: anything,
    actor: anything,
    output: optional(schemaCheck),
    strict: optional(expects.flag),
    limits: optional(record("use an object such as { turns: 20 }")),
    ask: optional(call('pass a function that returns "allow" or "deny"')),
    observers: optional(observersCheck),
    signal: optional(
      having(
        ["addEventListener", "throwIfAborted"],
        "use the signal of an AbortController, or AbortSignal.timeout(10_000)",
      ),
    ),
  });
  const { limits } = options as RunOptions;
  if (limits !== undefined) checkLimits(door, limits);
}
