import { checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import { checkAddress, connectChecks, connectNames, refuseBeside } from "../connect-options.ts";
import type { TemporalDriverOptions } from "./options.ts";

const { call, having, optional, text } = expects;

const storeFix =
  "pass the store of the server, such as postgresStore({ acrossTenants: true }) of @millrace/stores/postgres";

/** Throws `invalid_definition` for options of a driver that can't be used. */
export function checkDriverOptions(options: unknown, from: Door["from"]): void {
  const door = { name: "temporalDriver", from };
  checkOptions<TemporalDriverOptions>(door, options, {
    ...connectChecks,
    client: optional({ accepts: isClient, fix: "pass a Client of @temporalio/client" }),
    workflowType: optional(text("use the name of a workflow, such as agentWorkflow")),
    workflowId: optional(call("use a function that returns the id of a session's workflow")),
    taskQueue: optional(text("use the name of the workers' task queue")),
    store: optional({ accepts: isObject, fix: storeFix }),
    index: optional(having(["due"], "leave it out for a store with its own")),
    onEvent: optional(call()),
    clock: optional(having(["monotonic", "sleep"], "pass a clock, or leave it out")),
  });
  const given = options as TemporalDriverOptions; // checked above
  if (given.client === undefined) checkAddress(door, given);
  else refuseBeside(door, given, { option: "client", has: connectNames });
  if (given.index === undefined && given.store?.drivers === undefined) {
    const what = given.store === undefined ? "store is missing" : "store has no index of drivers";
    throw refusal(door, `${what}, in which lost wakes are found: ${storeFix}`);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isClient(value: unknown): boolean {
  // Not by `instanceof`: an application may have another copy of Temporal's client.
  return isObject(value) && isObject((value as { readonly workflow?: unknown }).workflow);
}
