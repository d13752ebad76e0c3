import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryBlobs, memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { BlobStore, EventLog, SessionStore } from "@millrace/core/ports";
import type {
  HttpNeed,
  HttpServed,
  HttpSettings,
  HttpStoreState,
  HttpTarget,
} from "@millrace/conformance/http";
import { createMillrace } from "@millrace/server";
import type { MillraceOptions } from "@millrace/server";
import { createSuiteAgent } from "./agent.ts";
import { faultStore } from "./fault-store.ts";
import { authenticate, authorize, tokenOf } from "./identities.ts";
import { mount, prefixOf } from "./mounts.ts";
import type { MountName } from "./mounts.ts";

/** What the servers of one target share. */
export interface Backend extends AsyncDisposable {
  readonly storeOf: (tenant: string) => SessionStore;
  /** The store of all tenants, if there is one: drivers find work of any tenant through it. */
  readonly store?: SessionStore | undefined;
  readonly log: EventLog;
  readonly blobs: BlobStore;
  /** Empties the log. Left out: it can't be emptied. */
  readonly loseLive?: (() => Promise<void>) | undefined;
}

/** Everything in this process. */
export function memoryBackend(): Backend {
  const stores = new Map<string, SessionStore>();
  return {
    storeOf: (tenant) => {
      const store = stores.get(tenant) ?? memorySessionStore();
      stores.set(tenant, store);
      return store;
    },
    log: memoryEventLog(),
    blobs: memoryBlobs(),
    [Symbol.asyncDispose]: async () => stores.clear(),
  };
}

/** Far above what the cases use: a case that needs a limit opens a server with it. */
const wideLimits: NonNullable<MillraceOptions["limits"]> = {
  requestsPerUser: 1e6,
  requestsPerTenant: 1e6,
  creationsPerUser: 1e6,
  inputsPerUser: 1e6,
  ticketsPerUser: 1e6,
  abortsPerUser: 1e6,
  notFoundPerUser: 1e6,
  runsPerUser: 1e4,
  runsPerTenant: 1e4,
};

/** Our server as a target of the HTTP suite: on one mount, over one backend. */
export async function openSuiteTarget(name: MountName, backend: Backend): Promise<HttpTarget> {
  let state: HttpStoreState = "there";
  const stateOf = (): Exclude<HttpStoreState, number> => {
    if (typeof state !== "number") return state;
    state -= 1;
    return state >= 0 ? "there" : "away";
  };
  const stores = new Map<string, SessionStore>();
  const storeOf = (tenant: string): SessionStore => {
    const store = stores.get(tenant) ?? faultStore(backend.storeOf(tenant), stateOf);
    stores.set(tenant, store);
    return store;
  };
  const { store: all } = backend;
  const store: MillraceOptions["store"] =
    all === undefined ? storeOf : { ...faultStore(all, stateOf), forTenant: storeOf };
  const open = (settings: HttpSettings): Promise<HttpServed> =>
    serve(name, { ...backend, store }, settings);
  const served = await open({});
  const gives: HttpNeed[] = ["servers", "outage"];
  if (name !== "http2") gives.push("sockets");
  if (backend.loseLive !== undefined) gives.push("loss");
  return {
    ...served,
    gives,
    open,
    setStore: (next) => {
      state = next;
    },
    loseLive: async () => await backend.loseLive?.(),
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
    },
  };
}

async function serve(
  name: MountName,
  { store, log, blobs }: Pick<MillraceOptions, "store" | "log" | "blobs">,
  settings: HttpSettings,
): Promise<HttpServed> {
  const { limits, streams, origins, hosts, cookies, drive, local = false } = settings;
  const lines: string[] = [];
  const token = local ? await localToken() : undefined;
  const millrace = createMillrace({
    agent: createSuiteAgent(),
    ...(local ? {} : { authenticate }),
    ...(settings.authorize === "any" ? { authorize: () => true } : local ? {} : { authorize }),
    store,
    log,
    blobs,
    limits: { ...wideLimits, ...limits },
    streams,
    origins,
    hosts,
    cookies,
    driver: drive === false ? false : undefined,
    secret: "a secret that the servers of one deployment share",
    basePath: name === "next" ? prefixOf.next : undefined,
    onRequest: (line) => lines.push(JSON.stringify(line)),
  });
  const mounted = await mount(name, millrace);
  return {
    url: mounted.url,
    protocol: name === "http2" ? "h2" : "http/1.1",
    as: (who) => ({ authorization: `Bearer ${token?.text ?? tokenOf(who)}` }),
    asCookie: (who) => ({ cookie: `other=1; who=${tokenOf(who)}` }),
    logged: () => lines.join("\n"),
    drain: async (drainMs) => await millrace.close({ drainMs }),
    disconnect: (who) => millrace.disconnect(who),
    [Symbol.asyncDispose]: async () => {
      await millrace.close({ drainMs: 0 });
      await mounted[Symbol.asyncDispose]();
      await token?.[Symbol.asyncDispose]();
    },
  };
}

/** The token of an installation of its own. The file is made when the server is. */
async function localToken(): Promise<AsyncDisposable & { readonly text: string }> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-http-"));
  const file = join(folder, "token");
  process.env["MILLRACE_TOKEN_FILE"] = file;
  const made = createMillrace({ agent: createSuiteAgent() });
  await made.close({ drainMs: 0 });
  const text = (await readFile(file, "utf8")).trim();
  return {
    text,
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true }),
  };
}
