/** A Temporal server for tests, on a PostgreSQL server of its own. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { callGrpc, encodeField } from "./grpc.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { findTemporal, missing } from "./programs.ts";
import { type Server, startServer } from "./server.ts";

/** A running Temporal server. Its `url` is the address for clients, host and port, without a scheme. */
export interface TemporalServer extends Server {
  /** Its database. Killing one does not kill the other. */
  readonly postgres: PostgresServer;
}

const run = promisify(execFile);

/** Options of a Temporal server. */
export interface TemporalOptions {
  /** Its dynamic configuration, such as the length at which a workflow is to be continued as new. */
  readonly settings?: Readonly<Record<string, number | boolean>> | undefined;
}

/** Starts a Temporal server with the namespace `default`. Rejects if it has not been built here. */
export async function startTemporal(options: TemporalOptions = {}): Promise<TemporalServer> {
  const programs = findTemporal();
  if (programs === undefined) throw missing("Temporal", "install temporal");
  await using started = new AsyncDisposableStack();
  const { sqlTool } = programs;
  const version = /\d[\w.]*/.exec((await run(sqlTool, ["--version"])).stdout)?.[0] ?? "unknown";
  const create = (server: PostgresServer): Promise<void> => createSchema(sqlTool, server);
  const content = { name: `temporal-${version}`, create };
  const postgres = started.use(await startPostgres({ content }));
  const server = started.use(await startOn(programs.server, postgres, options));
  await retry(() => registerNamespace(server.port));
  started.move(); // success: nothing is ended here
  return Object.assign(server, { postgres });
}

async function createSchema(sqlTool: string, postgres: PostgresServer): Promise<void> {
  const env = {
    ...process.env,
    SQL_HOST: "127.0.0.1",
    SQL_PORT: `${postgres.port}`,
    SQL_USER: "postgres",
    SQL_PASSWORD: postgres.password,
    SQL_PLUGIN: "postgres12",
  };
  const databases = { temporal: "temporal", temporal_visibility: "visibility" };
  for (const [database, schema] of Object.entries(databases)) {
    const tool = (...parameters: string[]): Promise<unknown> =>
      run(sqlTool, ["--db", database, ...parameters], { env });
    await tool("create");
    await tool("setup-schema", "-v", "0.0");
    await tool("update-schema", "--schema-name", `postgresql/v12/${schema}`);
  }
}

/** Its four services have ports of their own. */
async function startOn(
  file: string,
  postgres: PostgresServer,
  { settings = {} }: TemporalOptions,
): Promise<Server> {
  const dynamic = Object.entries(settings).map(
    ([name, value]) => `${name}:\n  - value: ${value}\n`,
  );
  return startServer({
    name: "temporal",
    prepare: ({ folder }) => writeFile(join(folder, "dynamic.yaml"), dynamic.join("")),
    furtherPorts: portNames.length,
    command: ({ folder, port, furtherPorts }) => ({
      file,
      parameters: ["--allow-no-auth", "start"],
      environment: {
        DB: "postgres12",
        POSTGRES_SEEDS: "127.0.0.1",
        DB_PORT: `${postgres.port}`,
        POSTGRES_USER: "postgres",
        POSTGRES_PWD: postgres.password,
        DBNAME: "temporal",
        VISIBILITY_DBNAME: "temporal_visibility",
        NUM_HISTORY_SHARDS: "4",
        BIND_ON_IP: "127.0.0.1",
        TEMPORAL_BROADCAST_ADDRESS: "127.0.0.1",
        LOG_LEVEL: "warn",
        DYNAMIC_CONFIG_FILE_PATH: join(folder, "dynamic.yaml"),
        ...portsOf(furtherPorts),
        FRONTEND_GRPC_PORT: `${port}`,
      },
    }),
    answers: async ({ port }) => {
      const service = encodeField(1, "temporal.api.workflowservice.v1.WorkflowService");
      const status = await callGrpc(port, "/grpc.health.v1.Health/Check", service);
      return status.equals(encodeField(1, 1)); // SERVING
    },
    url: ({ port }) => `127.0.0.1:${port}`,
    quit: "SIGKILL", // it leaves nothing outside of its folder and its database
    release: () => postgres.close(),
  });
}

const portNames = [
  ...["FRONTEND", "MATCHING", "HISTORY", "WORKER"].map((name) => `${name}_MEMBERSHIP_PORT`),
  ...["MATCHING", "HISTORY", "WORKER"].map((name) => `${name}_GRPC_PORT`),
  "FRONTEND_HTTP_PORT",
];

function portsOf(ports: readonly number[]): Readonly<Record<string, string>> {
  return Object.fromEntries(portNames.map((name, at) => [name, `${ports[at]}`]));
}

/** Finished runs are kept for a day, the shortest that Temporal allows. */
async function registerNamespace(port: number): Promise<void> {
  const retention = encodeField(4, encodeField(1, 24 * 60 * 60));
  await callGrpc(
    port,
    "/temporal.api.workflowservice.v1.WorkflowService/RegisterNamespace",
    Buffer.concat([encodeField(1, "default"), retention]),
  );
}

/** The frontend answers before the services behind it are connected. */
async function retry(work: () => Promise<void>): Promise<void> {
  for (let left = 100; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await sleep(200);
    }
  }
}
