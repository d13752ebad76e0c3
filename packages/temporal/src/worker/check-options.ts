import { checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck } from "@millrace/core/checks";
import { checkAddress, connectChecks, refuseBeside } from "../connect-options.ts";
import type { SdkOwnName, TemporalWorkerOptions } from "./options.ts";

const { call, either, having, optional, record, text } = expects;

/** A sign is sent four times as often, and a busy process is late by some of it. */
const leastHeartbeatMs = 500;
/** A day: longer than any step may take. */
const mostMs = 86_400_000;

const hints = {
  temporal:
    "write its address, tls and apiKey as options, or pass a NativeConnection as connection",
  workflowsPath: "write it as workflows: new URL(…, import.meta.url)",
  workflowBundle: "write it as workflows",
  activities: "write it in sdk: activities of your own are added to ours",
  interceptors: "write it in sdk",
  index: "leave it out: Temporal finds the sessions with work",
  capacity: "write sdk: { maxConcurrentActivityTaskExecutions: … }",
};

/** The option here of which each option of the SDK is made. */
const ownNames: Readonly<Record<SdkOwnName, keyof TemporalWorkerOptions>> = {
  connection: "connection",
  namespace: "namespace",
  taskQueue: "taskQueue",
  workflowsPath: "workflows",
  workflowBundle: "workflows",
  shutdownGraceTime: "drainMs",
};

/** Throws `invalid_definition` for options of a worker that can't be used. */
export function checkWorkerOptions(options: unknown, from: Door["from"]): void {
  const door = { name: "createWorker", from, hints };
  checkOptions<TemporalWorkerOptions>(door, options, {
    ...connectChecks,
    agent: either(
      having(["open", "run"], ""),
      call(),
      "pass what defineAgent made, or a function that chooses one",
    ),
    store: having(
      ["find", "read", "claim", "claimedBy"],
      "pass the store of the server, such as postgresStore({ url }) of @millrace/stores/postgres",
    ),
    log: having(
      ["append", "tail", "announce", "nudge"],
      "pass the log of the server, such as redisLog({ url }) of @millrace/stores/redis",
    ),
    blobs: optional(having(["put", "find", "read"], "pass the blob store of the server")),
    connection: optional(
      having(["close", "setApiKey"], "pass a NativeConnection of @temporalio/worker"),
    ),
    taskQueue: optional(text("use the name of a task queue, such as millrace")),
    workflows: optional({
      accepts: areWorkflows,
      fix: "use the URL of a file, what bundleWorkflowCode of @temporalio/worker made, or false for none",
    }),
    heartbeatMs: optional(milliseconds(leastHeartbeatMs)),
    drainMs: optional(milliseconds(0)),
    sdk: optional(record("use an object of options of Temporal's own worker")),
  });
  const given = options as TemporalWorkerOptions; // checked above
  if (given.connection === undefined) checkAddress(door, given);
  else
    refuseBeside(door, given, {
      option: "connection",
      has: ["address", "tls", "apiKey", "allowPlain"],
    });
  refuseOwn(door, given.sdk ?? {});
}

/** Options of the SDK that would be replaced here without a word. */
function refuseOwn(door: Door, sdk: object): void {
  for (const [name, instead] of Object.entries(ownNames))
    if (Object.hasOwn(sdk, name))
      throw refusal(door, `sdk.${name} is made of ${instead}: write it as ${instead}`);
}

function milliseconds(least: number): OptionCheck {
  return {
    accepts: (value) =>
      Number.isInteger(value) && Number(value) >= least && Number(value) <= mostMs,
    fix: `use a whole number of milliseconds from ${least} to ${mostMs}`,
  };
}

function areWorkflows(value: unknown): boolean {
  if (value === false) return true;
  if (value instanceof URL) return value.protocol === "file:";
  if (typeof value !== "object" || value === null) return false;
  return typeof (value as { readonly code?: unknown }).code === "string";
}
