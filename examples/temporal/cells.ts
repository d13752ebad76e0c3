// Cells. A tenant and all its sessions live in one cell, which has a PostgreSQL, a Redis, a Temporal and workers
// of its own: nothing is shared between cells but the table below. A tenant's cell is stored once and never
// computed, so cells can be added, and a change of their number moves nobody.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createMillrace } from "@millrace/server";
import type { Identity, Millrace } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { temporalDriver } from "@millrace/temporal/client";
import type { Pool } from "pg";
import { agent } from "./agent.ts";

// #region cells
/** The web side of one cell. Its workers are started with the same three addresses. */
export function openCell(cell: Record<"database" | "redis" | "temporal", string>): Millrace {
  const store = postgresStore({ url: cell.database, acrossTenants: true });
  const driver = temporalDriver({ store, address: cell.temporal });
  return createMillrace({ agent, store, log: redisLog({ url: cell.redis }), driver, authenticate });
}

/** The cell that was assigned to a tenant. One that comes for the first time is assigned to `newcomers`. */
async function cellOf(tenant: string, newcomers: string, directory: Pool): Promise<string> {
  const assign = "insert into cells (tenant, cell) values ($1, $2) on conflict do nothing";
  await directory.query(assign, [tenant, newcomers]);
  const { rows } = await directory.query("select cell from cells where tenant = $1", [tenant]);
  return (rows as [{ readonly cell: string }])[0].cell;
}

/** Hands each request to the cell of its tenant. */
export function routeTo(
  cells: Readonly<Record<string, Millrace>>,
  newcomers: string,
  directory: Pool,
): (request: IncomingMessage, response: ServerResponse) => void {
  const find = async (tenant: string | undefined): Promise<Millrace | undefined> =>
    cells[tenant === undefined ? newcomers : await cellOf(tenant, newcomers, directory)];
  return (request, response) => {
    const refuse = (): void => void response.writeHead(503).end();
    find(tenantOf(request.headers.authorization)).then(
      (cell) => (cell === undefined ? refuse() : cell.node(request, response)),
      refuse, // the directory is away
    );
  };
}
// #endregion

/** A real application checks a token here, which no client can choose. */
function tenantOf(authorization: string | null | undefined): string | undefined {
  return authorization?.startsWith("Bearer ") === true ? authorization.slice(7) : undefined;
}

function authenticate(request: Request): Identity | undefined {
  const tenant = tenantOf(request.headers.get("authorization"));
  return tenant === undefined ? undefined : { tenant, user: "ann" };
}
