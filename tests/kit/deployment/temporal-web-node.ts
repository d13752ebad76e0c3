/** A web node of a deployment whose workers are Temporal's: it wakes the workflow of each session. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { temporalDriver } from "@millrace/temporal/client";
import type { WebConfig } from "./deployment.ts";
import { reportStrayErrors } from "./reports.ts";
import { serveWeb } from "./serve-web.ts";
import type { TemporalWay } from "./temporal-way.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WebConfig & TemporalWay;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const driver = temporalDriver({ ...config.temporal, store });
serveWeb(config, store, (session) => driver.wake(session));
