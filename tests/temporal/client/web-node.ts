import type { SessionDriver } from "@millrace/core/ports";
import type { Identity } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { temporalDriver } from "@millrace/temporal/client";
import type { TemporalDriverEvent } from "@millrace/temporal/client";
import { newKey, Served } from "../../../packages/server/src/testing/served.ts";

/** A web node: a server with a driver and a pool of its own. It drives nothing. */
export class WebNode implements AsyncDisposable {
  readonly events: TemporalDriverEvent[] = [];
  readonly #store: PostgresStore;
  readonly #served: Served;

  /** Of a database and Temporal's address, or with a driver that a test made. */
  constructor(url: string, temporal: string | SessionDriver) {
    const store = postgresStore({ url, acrossTenants: true });
    const onEvent = (event: TemporalDriverEvent): void => void this.events.push(event);
    const driver =
      typeof temporal === "string"
        ? temporalDriver({ address: temporal, store, onEvent })
        : temporal;
    this.#store = store;
    this.#served = new Served(undefined, { authenticate: identify, store, driver });
  }

  /** Makes a session, without an input. */
  async create(tenant: string, id: string): Promise<void> {
    const request = { body: { id }, key: newKey(), user: tenant };
    const made = await this.#served.request("/v1/sessions", request);
    if (made.status !== 201) throw new Error(await made.text());
  }

  /** Posts a prompt, and resolves to the number of its fact. */
  async send(tenant: string, session: string, text: string): Promise<number> {
    const request = { body: { kind: "prompt", text }, key: newKey(), user: tenant };
    const posted = await this.#served.request(`/v1/sessions/${session}/inputs`, request);
    if (posted.status !== 202) throw new Error(await posted.text());
    return ((await posted.json()) as { readonly n: number }).n; // what the route answers
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served[Symbol.asyncDispose]();
    await this.#store.close();
  }
}

/** Each tenant has one user, whose token is the tenant's name. */
function identify({ headers }: Request): Identity | undefined {
  const [, tenant] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? [];
  return tenant === undefined ? undefined : { tenant, user: "ann" };
}
