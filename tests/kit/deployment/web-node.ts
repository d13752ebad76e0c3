/** A web node of a deployment whose workers find work by themselves. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import type { WebConfig } from "./deployment.ts";
import { reportStrayErrors } from "./reports.ts";
import { serveWeb } from "./serve-web.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WebConfig;
reportStrayErrors();
serveWeb(config, postgresStore({ url: config.postgres }), () => undefined);
