/** A worker of a deployment that is killed at its stations. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { WorkerConfig } from "../../kit/deployment/deployment.ts";
import { reportStrayErrors } from "../../kit/deployment/reports.ts";
import { runTemporalWorker } from "../../kit/deployment/run-temporal-worker.ts";
import type { TemporalWorkerWay } from "../../kit/deployment/temporal-way.ts";
import { crashAgent } from "./crash-agent.ts";
import { Stations } from "./stations.ts";
import { watchStatements } from "./statement-cuts.ts";
import { watchActivities, watchLog, watchStore } from "./watched-worker.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig &
  TemporalWorkerWay & { readonly stations: string };
reportStrayErrors();
const stations = new Stations(config.stations);
const store = postgresStore({ url: config.postgres });
await runTemporalWorker(config, {
  agent: crashAgent(config, stations),
  store: watchStore(store, stations, watchStatements()),
  log: watchLog(redisLog({ url: config.redis }), stations),
  sdk: watchActivities(stations),
});
