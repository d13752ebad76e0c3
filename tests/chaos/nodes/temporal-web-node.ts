/** A web node of a history whose workers are Temporal's. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { temporalDriver } from "@millrace/temporal/client";
import type { WebConfig } from "../../kit/deployment/deployment.ts";
import { reportStrayErrors } from "../../kit/deployment/reports.ts";
import type { TemporalWay } from "../../kit/deployment/temporal-way.ts";
import { serveProduct } from "./serve-product.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WebConfig & TemporalWay;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
serveProduct(config, store, temporalDriver({ ...config.temporal, store }));
