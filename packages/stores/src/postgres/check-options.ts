import { checkOption, checkOptions, expects, refusal } from "@millrace/core/checks";
import type { Door, OptionCheck } from "@millrace/core/checks";
import type { PostgresBlobsOptions } from "./postgres-blobs.ts";
import type { PostgresStoreOptions } from "./postgres-store.ts";

const { call, flag, having, optional } = expects;
const anyText: OptionCheck = { accepts: (value) => typeof value === "string", fix: "use a text" };
const address: OptionCheck = {
  accepts: (value) => typeof value === "string" && /^(postgres(ql)?|socket):\/\//i.test(value),
  fix: 'begin it with postgres://, as in "postgres://localhost/app"',
};

const hints = {
  connectionString: "write it as url",
  host: "write the whole address as url, or pass a pool",
  table: "the tables' schema is the option schema",
};

/** Throws `invalid_definition` for options that can't be used. */
export function checkPostgresOptions(options: unknown, from: Door["from"]): void {
  checkOptions<PostgresStoreOptions>({ name: "postgresStore", from, hints }, options, {
    url: optional(address),
    allowPlain: optional(flag),
    pool: optional(having(["connect", "query", "end"], "pass a Pool of pg, or a url")),
    schema: optional(anyText), // which names a schema may have is checked where it is quoted
    tenant: optional(anyText),
    acrossTenants: optional(flag),
    clock: optional(having(["now", "monotonic", "sleep"], "pass a clock, or leave it out")),
    makeId: optional(call()),
  });
  checkAddress({ name: "postgresStore", from }, options as PostgresStoreOptions); // checked above
}

/** Throws `invalid_definition` for options of `postgresBlobs` that can't be used. */
export function checkPostgresBlobsOptions(options: unknown, from: Door["from"]): void {
  const door = { name: "postgresBlobs", from, hints };
  checkOptions<PostgresBlobsOptions>(door, options, {
    url: optional(address),
    allowPlain: optional(flag),
    pool: optional(having(["connect", "query", "end"], "pass a Pool of pg, or a url")),
    schema: optional(anyText),
    tenant: optional(anyText),
    acrossTenants: optional(flag),
    clock: optional(having(["now", "monotonic", "sleep"], "pass a clock, or leave it out")),
  });
  checkAddress(door, options as PostgresBlobsOptions);
}

function checkAddress(door: Door, { url, pool }: Pick<PostgresStoreOptions, "url" | "pool">): void {
  if (url !== undefined || pool !== undefined) return;
  const named = process.env["DATABASE_URL"];
  if (named === undefined) {
    const fix = 'pass one, as in "postgres://localhost/app", or a pool, or set DATABASE_URL';
    throw refusal(door, `url is missing: ${fix}`);
  }
  // The driver would take an empty address for the defaults of its own: a server on this machine.
  checkOption(door, "DATABASE_URL", named, address);
}
