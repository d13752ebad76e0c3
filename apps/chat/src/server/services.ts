// What the environment adds: each variable is one line of `createMillrace`. The drivers are loaded only if they
// are asked for, so that the app starts without them.
import type { MillraceOptions } from "@millrace/server";
import type { ChooseAgent } from "@millrace/agent/worker";

type Env = Readonly<Record<string, string | undefined>>;
type Services = Pick<MillraceOptions, "store" | "log" | "blobs" | "driver">;

/** The services that the environment names, and how to end them. */
export interface OpenServices {
  readonly options: Services;
  readonly names: readonly string[];
  readonly close: () => Promise<void>;
}

/** Opens `DATABASE_URL`, `REDIS_URL` and `TEMPORAL_ADDRESS`, as far as they are set. */
export async function openServices(env: Env, agent: ChooseAgent): Promise<OpenServices> {
  const given = (name: string): string | undefined => env[name] || undefined;
  const [database, redis, temporal] = ["DATABASE_URL", "REDIS_URL", "TEMPORAL_ADDRESS"].map(given);
  if (temporal !== undefined && (database === undefined || redis === undefined))
    throw new Error("TEMPORAL_ADDRESS needs DATABASE_URL and REDIS_URL: workers share both");
  await using opened = new AsyncDisposableStack();
  const { postgresBlobs, postgresStore } = await load(
    database,
    () => import("@millrace/stores/postgres"),
  );
  const { redisLog } = await load(redis, () => import("@millrace/stores/redis"));
  const { temporalDriver } = await load(temporal, () => import("@millrace/temporal/client"));
  const store = postgresStore && opened.use(postgresStore({ url: database, acrossTenants: true }));
  await store?.migrate(); // may be run by every process that starts
  const blobs = postgresBlobs && opened.use(postgresBlobs({ url: database }));
  const log = redisLog && opened.use(redisLog({ url: redis }));
  const driver = store && temporalDriver?.({ store, address: temporal });
  if (driver !== undefined && store !== undefined && log !== undefined && env["WORKER"] !== "0") {
    const { createWorker } = await import("@millrace/temporal/worker");
    // A killed worker is noticed after the time of a heartbeat: soon, since a person looks on.
    const ports = { agent, store, log, blobs, address: temporal, heartbeatMs: 3_000 };
    void opened.use(await createWorker(ports)).run();
  }
  const rest = opened.move();
  return {
    options: { store, blobs, log, driver },
    names: [store && "PostgreSQL", log && "Redis", driver && "Temporal"].filter(
      (name) => name !== undefined,
    ),
    close: () => rest.disposeAsync(),
  };
}

/** Loads a module if what it is for was given. */
async function load<Module extends object>(
  given: string | undefined,
  module: () => Promise<Module>,
): Promise<Partial<Module>> {
  return given === undefined ? {} : await module();
}
