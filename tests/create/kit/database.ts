import { globSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { execute } from "../../../scripts/execute.ts";
import { findPostgres, missing } from "../../../scripts/services/programs.ts";
import type { PostgresServer } from "../../../scripts/services/postgres.ts";

/** The addresses of a project's database, for its owner and for its servers. */
export interface ProjectDatabase {
  readonly owner: string;
  readonly app: string;
  /** Of the role that only makes Temporal's databases, where a project has one. */
  readonly temporal: string;
}

/** Makes roles and database by the project's own files, as the image of PostgreSQL runs them. */
export async function makeRoles(server: PostgresServer, path: string): Promise<ProjectDatabase> {
  const psql = findPostgres("psql");
  if (psql === undefined) throw missing("PostgreSQL");
  const password = randomBytes(16).toString("hex");
  const names = ["OWNER_PASSWORD", "APP_PASSWORD", "SQL_PASSWORD"];
  for (const file of globSync("postgres/*.sql", { cwd: path }).toSorted()) {
    const passwords = names.map((name) => `${name}=${password}`);
    const run = [psql, "-X", "-v", "ON_ERROR_STOP=1", "-d", server.url, "-f", join(path, file)];
    const { ok, output } = await execute(["env", ...passwords, ...run]);
    if (!ok) throw new Error(output);
  }
  const as = (role: string, database: string): string =>
    server.urlOf(database).replace(/\/\/[^@]*@/, `//${role}:${password}@`);
  return {
    owner: as("owner", "sessions"),
    app: as("app", "sessions"),
    temporal: as("temporal", "postgres"),
  };
}
