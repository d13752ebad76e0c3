import type { Statement } from "./connection.ts";

/** The SQL of what is no record: heads of many sessions, checkpoints, drivers, sessions with work. */
export interface WorkStatements {
  readonly heads: Statement;
  readonly checkpoint: Statement;
  readonly keepCheckpoint: Statement;
  readonly beat: Statement;
  readonly leave: Statement;
  readonly driver: Statement;
  readonly due: Statement;
  readonly headsAcross: Statement;
  readonly beatAcross: Statement;
  readonly leaveAcross: Statement;
  readonly dueAcross: Statement;
}

/** A driver beats for its tenant, or for all tenants: then its beat has none. */
const beat =
  "(select sum(d.beat) from driver d where d.name = s.driver and d.tenant in (s.tenant, '')) as beat";

/** The engine's run that made the last claim. */
const engine =
  "(select c.run from engine_claim c where c.uid = s.uid and c.tenant = s.tenant and c.incarnation = s.incarnation) as engine";

/** The statements. Those across tenants call functions that only a role of workers may call. */
export function workStatements(named: (text: string) => Statement, schema: string): WorkStatements {
  return {
    // One by one by the primary key: a plan by tenant would read all sessions of a tenant.
    heads: named(
      `select given.uid, found.head from unnest($2::text[]) as given (uid) cross join lateral
         (select head from session where uid = given.uid and tenant = $1 limit 1) as found`,
    ),
    checkpoint: named(`select head, text from checkpoint where uid = $1 and tenant = $2`),
    // The lock waits for a reset under way, after which the row is looked at again.
    keepCheckpoint: named(
      `insert into checkpoint as kept (uid, tenant, head, text)
       select uid, tenant, $3, $4 from session
       where uid = $1 and tenant = $2 and head >= $3 and reset <= $3 for share
       on conflict (uid) do update set head = excluded.head, text = excluded.text
       where kept.head <= excluded.head`,
    ),
    beat: named(
      `insert into driver as known (tenant, name, beat) values ($1, $2, 1)
       on conflict (tenant, name) do update set beat = known.beat + 1, at = clock_timestamp()`,
    ),
    leave: named(
      `delete from driver
       where tenant = $1 and (name = $2 or at < clock_timestamp() - interval '1 day')`,
    ),
    driver: named(
      `select s.driver, ${beat}, ${engine} from session s
       where s.uid = $1 and s.tenant = $2 and s.driver is not null`,
    ),
    due: named(
      `select s.uid, s.name, s.head, s.incarnation, s.run, s.driver, ${beat}, ${engine} from session s
       where s.tenant = $1 and s.due_since is not null
         and ($2::bytea is null or s.driver is distinct from $2)
       order by s.due_since limit $3`,
    ),
    headsAcross: named(`select uid, head from ${schema}.session_heads($1)`),
    beatAcross: named(`select ${schema}.beat_driver($1)`),
    leaveAcross: named(`select ${schema}.leave_driver($1)`),
    dueAcross: named(`select * from ${schema}.due_with_engines($1, $2)`),
  };
}
