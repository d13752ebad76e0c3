import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DefaultLogger, Runtime, makeTelemetryFilterString } from "@temporalio/worker";
import { createWorker } from "@millrace/temporal/worker";
import type { TemporalWorker, TemporalWorkerOptions } from "@millrace/temporal/worker";
import { reportReady } from "./reports.ts";
import type { TemporalWorkerWay } from "./temporal-way.ts";

type Driven = Pick<TemporalWorkerOptions, "agent" | "store" | "log" | "blobs" | "sdk">;

/** Runs a worker of Temporal in this process, to its end. */
export async function runTemporalWorker(way: TemporalWorkerWay, driven: Driven): Promise<void> {
  const filter = makeTelemetryFilterString({ core: "ERROR", other: "ERROR" });
  Runtime.install({
    logger: new DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter } },
  });
  const first = connect(way, driven);
  // A history may start a worker while Temporal is away: that is no reason to wait for it.
  await Promise.race([first, sleep(5_000)]);
  reportReady();
  await (await first).run();
}

/** A worker that is started while Temporal is away fails, and is started again, as a supervisor would. */
async function connect(way: TemporalWorkerWay, driven: Driven): Promise<TemporalWorker> {
  const { address, taskQueue } = way.temporal;
  const workflows = { code: readFileSync(way.workflows, "utf8"), sourceMap: "" };
  const { heartbeatMs, drainMs } = way;
  const times = { heartbeatMs, drainMs };
  for (;;) {
    try {
      return await createWorker({ ...driven, address, taskQueue, workflows, ...times });
    } catch {
      await sleep(200);
    }
  }
}
