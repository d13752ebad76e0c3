/** An object that a role makes so that code of the tables' owner runs what the role wrote. */
export interface HostileObject {
  readonly name: string;
  /** SQL, with `:schema` and `:owner`. Each statement may be refused: then the object is not there. */
  readonly make: readonly string[];
}

/** Notes the role that runs it, and uses the rights of that role if they are more than the caller's. */
export const prepareAttack: readonly string[] = [
  "create temp table loot (who text, what text)",
  "grant all on pg_temp.loot to public",
  `create function pg_temp.spy() returns boolean language plpgsql volatile as $$
    begin
      insert into pg_temp.loot values (current_user, 'ran');
      return true;
    end $$`,
  "grant execute on function pg_temp.spy() to public",
  `create function pg_temp.spying_trigger() returns trigger language plpgsql volatile as $$
    begin
      insert into pg_temp.loot values (current_user, 'trigger');
      return null;
    end $$`,
  "grant execute on function pg_temp.spying_trigger() to public",
];

const tables = ["fact", "item", "session", "checkpoint", "driver", "tombstone"] as const;

/** A table with the columns of all of them, so that every statement that finds it works on it. */
const columns = `uid text, tenant text, name bytea, head bigint, incarnation integer, run bytea,
  driver bytea, due_since timestamptz, beat bigint, at timestamptz, root text, actor text, n bigint`;

const trapTables: readonly HostileObject[] = tables.map((table) => ({
  name: `a temporary table ${table} with triggers`,
  make: [
    `create temp table ${table} (${columns}, primary key (tenant, name))`,
    `grant all on pg_temp.${table} to public`,
    `create trigger trap before insert or update or delete on pg_temp.${table}
       for each statement execute function pg_temp.spying_trigger()`,
  ],
}));

const trapViews: readonly HostileObject[] = ["fact", "session"].map((table) => ({
  name: `a temporary view ${table} that calls a function`,
  make: [
    `create temp view ${table} as select s.*, pg_temp.spy() from :schema.session s`,
    `grant all on pg_temp.${table} to public`,
    `create trigger trap instead of delete on pg_temp.${table}
       for each row execute function pg_temp.spying_trigger()`,
  ],
}));

/** Every session and driver that is looked for is in it, and finding one calls the function. */
const foundRow = `select 'x'::text as uid, 'mine'::text as tenant, 'x'::bytea as name, 1::bigint as head,
  1 as incarnation, 'x'::bytea as run, 'x'::bytea as driver, now() as due_since, 1::bigint as beat`;

const trapRows: readonly HostileObject[] = ["session", "driver"].map((table) => ({
  name: `a temporary view ${table} whose row calls a function`,
  make: [
    `create temp view ${table} as ${foundRow} where pg_temp.spy()`,
    `grant all on pg_temp.${table} to public`,
  ],
}));

const trapPolicies: readonly HostileObject[] = ["fact", "item"].map((table) => ({
  name: `a temporary table ${table} with a policy that calls a function`,
  make: [
    `create temp table ${table} (${columns})`,
    `grant all on pg_temp.${table} to public`,
    `alter table pg_temp.${table} enable row level security`,
    `create policy trap on pg_temp.${table} using (pg_temp.spy())`,
    `insert into pg_temp.${table} (uid) values ('x')`,
  ],
}));

const spy = (schema: string, head: string, returns: string, value: string): string =>
  `create function ${schema}.${head} returns ${returns} language plpgsql volatile as
   $$ begin perform pg_temp.spy(); return ${value}; end $$`;

/** Functions by the names that the owner's code uses, for the same and for better fitting arguments. */
const functions: readonly (readonly [head: string, returns: string, value: string])[] = [
  ["current_setting(text, boolean)", "text", "'other'"],
  ["current_setting(unknown, boolean)", "text", "'other'"],
  ["clock_timestamp()", "timestamptz", "now()"],
  ["sha256(bytea)", "bytea", "''::bytea"],
  ["unnest(text[])", "text", "''"],
  ["hashtextextended(text, integer)", "bigint", "1"],
  ["pg_advisory_xact_lock(integer)", "void", ""],
  ["remove_session(text, text, text)", "void", ""],
];
const trapFunctions: readonly HostileObject[] = ["pg_temp", "public"].flatMap((schema) =>
  functions.map(([head, returns, value]) => ({
    name: `a function ${schema}.${head}`,
    make: [
      spy(schema, head, returns, value),
      `set search_path to ${schema}, pg_catalog`, // of the caller, which the owner's code must not use
    ],
  })),
);

const operators: readonly (readonly [sign: string, left: string, right: string])[] = [
  ["=", "text", "text"],
  ["=", "bytea", "bytea"],
  ["<", "timestamptz", "timestamptz"],
  ["<>", "text", "text"],
];
const trapOperators: readonly HostileObject[] = ["pg_temp", "public"].flatMap((schema) =>
  operators.map(([sign, left, right]) => ({
    name: `an operator ${schema}.${sign} of ${left} and ${right}`,
    make: [
      `create function ${schema}.compare(a ${left}, b ${right}) returns boolean language plpgsql volatile
         as $$ begin perform pg_temp.spy(); return true; end $$`,
      `create operator ${schema}.${sign} (leftarg = ${left}, rightarg = ${right},
         function = ${schema}.compare)`,
      `set search_path to ${schema}, pg_catalog`,
    ],
  })),
);

const others: readonly HostileObject[] = [
  {
    name: "a domain pg_temp.text with a check",
    make: [
      "create domain pg_temp.text as pg_catalog.text check (pg_temp.spy())",
      "set search_path to pg_temp, pg_catalog",
    ],
  },
  {
    name: "a domain pg_temp.bytea with a check",
    make: [
      "create domain pg_temp.bytea as pg_catalog.bytea check (pg_temp.spy())",
      "set search_path to pg_temp, pg_catalog",
    ],
  },
  {
    name: "an implicit cast from a type of its own to text",
    make: [
      "create type pg_temp.name_of as (a int)",
      spy("pg_temp", "cast_of(pg_temp.name_of)", "text", "''"),
      "create cast (pg_temp.name_of as text) with function pg_temp.cast_of(pg_temp.name_of) as implicit",
    ],
  },
  {
    name: "an implicit cast from text to a type of its own",
    make: [
      "create type pg_temp.of_name as (a int)",
      `create function pg_temp.of_text(text) returns pg_temp.of_name language plpgsql volatile as
         $$ begin perform pg_temp.spy(); return row(1)::pg_temp.of_name; end $$`,
      "create cast (text as pg_temp.of_name) with function pg_temp.of_text(text) as implicit",
    ],
  },
  {
    name: "an aggregate pg_temp.sum",
    make: [
      "create function pg_temp.add(numeric, bigint) returns numeric language plpgsql volatile as $$ begin perform pg_temp.spy(); return 1; end $$",
      "create aggregate pg_temp.sum(bigint) (sfunc = pg_temp.add, stype = numeric)",
      "set search_path to pg_temp, pg_catalog",
    ],
  },
  {
    name: "a trigger on a table of the schema",
    make: [
      "create trigger trap before delete on :schema.fact for each statement execute function pg_temp.spying_trigger()",
    ],
  },
  {
    name: "a rule on a table of the schema",
    make: ["create rule trap as on delete to :schema.session do also select pg_temp.spy()"],
  },
  {
    name: "a policy on a table of the schema",
    make: ["create policy trap on :schema.session using (pg_temp.spy())"],
  },
  {
    name: "a function in the schema",
    make: [spy(":schema", "current_setting(text, boolean)", "text", "'other'")],
  },
  {
    name: "a table in the schema",
    make: ["create table :schema.trap (a int)"],
  },
  {
    name: "another body for a function of the schema",
    make: [
      `create or replace function :schema.remove_session(session_uid text) returns void
         language plpgsql as $$ begin perform pg_temp.spy(); end $$`,
      `alter function :schema.remove_session(text) reset search_path`,
      `alter function :schema.remove_session(text) set search_path to pg_temp`,
    ],
  },
  {
    name: "an event trigger",
    make: [
      `create function pg_temp.on_event() returns event_trigger language plpgsql as $$ begin perform pg_temp.spy(); end $$`,
      "create event trigger trap on ddl_command_start execute function pg_temp.on_event()",
    ],
  },
  {
    name: "the role of the owner",
    make: ["set role :owner", "set session authorization :owner", "grant :owner to current_user"],
  },
  {
    name: "tables without row-level security",
    make: [
      "alter table :schema.fact no force row level security",
      "alter table :schema.fact disable row level security",
      "set row_security to off",
    ],
  },
];

/** All of them. */
export const hostileObjects: readonly HostileObject[] = [
  ...trapTables,
  ...trapViews,
  ...trapRows,
  ...trapPolicies,
  ...trapFunctions,
  ...trapOperators,
  ...others,
];
