import { checkOptions, expects } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import { blobsCheck, clockCheck, logCheck, randomCheck } from "../session/check-options.ts";
import type { WorkerOptions } from "./worker.ts";

const { call, either, having, optional, whole } = expects;

/** Throws `invalid_definition` for options of a worker that can't be used. */
export function checkWorkerOptions(options: unknown, from: Door["from"]): void {
  checkOptions<WorkerOptions>({ name: "createWorker", from, spread: true }, options, {
    agent: either(
      having(["open", "run"], ""),
      call(),
      "pass what defineAgent made, or a function that chooses one",
    ),
    store: having(
      ["find", "read", "claim"],
      "pass a store with an index of drivers, such as postgresStore({ url }) of @millrace/stores/postgres",
    ),
    log: logCheck,
    blobs: optional(blobsCheck),
    index: optional(
      having(["due", "find", "beat", "leave"], "leave it out for a store with its own"),
    ),
    admit: optional(call()),
    acquireSlot: optional(call()),
    allowance: optional(call()),
    capacity: optional(whole(1)),
    drainMs: optional(whole(0)),
    idleMs: optional(whole(0)),
    poisonAfter: optional(whole(1)),
    onEvent: optional(call()),
    clock: optional(clockCheck),
    random: optional(randomCheck),
  });
}
