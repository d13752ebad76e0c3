/** A web node of a history: it drives the sessions, or workers do. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import type { WebConfig } from "../../kit/deployment/deployment.ts";
import { reportStrayErrors } from "../../kit/deployment/reports.ts";
import { serveProduct } from "./serve-product.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WebConfig;
reportStrayErrors();
const driver = config.drives === "inline" ? undefined : false;
serveProduct(config, postgresStore({ url: config.postgres }), driver);
