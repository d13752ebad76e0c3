import { randomBytes } from "node:crypto";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { Client, Connection, WorkflowNotFoundError } from "@temporalio/client";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { TemporalServer } from "../../../scripts/services/temporal.ts";

/** A workflow as Temporal shows it. */
export interface SeenWorkflow {
  readonly described: WorkflowExecutionDescription;
  readonly summary: string | undefined;
  /** The arguments of its signals, in their order. */
  readonly signals: readonly unknown[];
  /** How often one has been started in this history: once. */
  readonly starts: number;
  /** All of its history, with payloads as text. */
  readonly text: string;
}

/** A database for sessions beside Temporal's own, and a client that reads what Temporal has. */
export class Site implements AsyncDisposable {
  readonly url: string;
  /** The test's own way to the facts. */
  readonly store: PostgresStore;
  readonly temporal: TemporalServer;
  readonly #connection: Connection;
  readonly #client: Client;

  private constructor(temporal: TemporalServer, url: string) {
    this.url = url;
    this.temporal = temporal;
    this.store = postgresStore({ url, acrossTenants: true });
    this.#connection = Connection.lazy({ address: temporal.url });
    this.#client = new Client({ connection: this.#connection });
  }

  static async open(temporal: TemporalServer): Promise<Site> {
    const database = `sessions_${randomBytes(6).toString("hex")}`;
    await temporal.postgres.query(`create database ${database}`);
    const site = new Site(temporal, temporal.postgres.urlOf(database));
    await site.store.migrate();
    return site;
  }

  /** The uid and the head of a session. */
  async find(tenant: string, session: string) {
    const record = await this.store.forTenant(tenant).find(session);
    if (record === undefined) throw new Error(`there is no session ${session}`);
    return record;
  }

  /** The workflow of a session. Undefined if Temporal has none. Rejects while Temporal is away. */
  async workflowOf(tenant: string, session: string): Promise<SeenWorkflow | undefined> {
    const { uid } = await this.find(tenant, session);
    const handle = this.#client.workflow.getHandle(`session:${uid}`);
    try {
      const described = await handle.describe();
      const { events = [] } = await handle.fetchHistory();
      const signals = (events ?? []).flatMap((event) => {
        const { signalName, input } = event.workflowExecutionSignaledEventAttributes ?? {};
        return signalName === "said" ? [valuesOf(input?.payloads ?? [])] : [];
      });
      const starts = (events ?? []).filter(
        (event) => event.workflowExecutionStartedEventAttributes,
      );
      const text = JSON.stringify(events, withText);
      const summary = await described.staticSummary();
      return { described, summary, signals, starts: starts.length, text };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
    await this.store.close();
  }
}

function valuesOf(payloads: readonly { readonly data?: Uint8Array | null }[]): readonly unknown[] {
  return payloads.map(({ data }) => JSON.parse(Buffer.from(data ?? []).toString()) as unknown);
}

/** A payload's bytes, which become base64 in JSON, as text. */
function withText(key: string, value: unknown): unknown {
  return key === "data" && typeof value === "string"
    ? Buffer.from(value, "base64").toString()
    : value;
}
