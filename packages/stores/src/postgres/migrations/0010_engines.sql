-- Which run of an engine has claimed which incarnation of a session. No fact has it: a viewer need not know
-- the engine. Each run claims a session once, so a row is never changed.

create table :schema.engine_claim (
  uid text collate "C" not null references :schema.session (uid) on delete cascade,
  -- Bytes, since text can't hold U+0000.
  run bytea not null,
  incarnation integer not null,
  tenant text collate "C" not null,
  primary key (uid, run),
  -- By which the driver's sign is found to be an engine's.
  unique (uid, incarnation)
);

alter table :schema.engine_claim enable row level security;
alter table :schema.engine_claim force row level security;
create policy tenant on :schema.engine_claim
  using (tenant = pg_catalog.current_setting('millrace.tenant', true));
create policy across on :schema.engine_claim for select to current_user
  using (pg_catalog.current_setting('search_path') like '%, millrace_across');

-- As `due_sessions`, which processes of the release before use, with the engine's run of the last claim.
create function :schema.due_with_engines(except_driver bytea, most bigint)
returns table (
  uid text, tenant text, name bytea, head bigint, incarnation integer, run bytea, driver bytea,
  beat numeric, engine bytea
)
language sql stable security definer set search_path = :schema, pg_temp, millrace_across
begin atomic
  select s.uid, s.tenant, s.name, s.head, s.incarnation, s.run, s.driver,
    (select pg_catalog.sum(d.beat) from :schema.driver d
     where d.name = s.driver and d.tenant in (s.tenant, '')),
    (select c.run from :schema.engine_claim c
     where c.uid = s.uid and c.tenant = s.tenant and c.incarnation = s.incarnation)
  from :schema.session s
  where s.due_since is not null
    and (except_driver is null or s.driver is distinct from except_driver)
  order by s.due_since limit most;
end;

revoke all on :schema.engine_claim from public;
revoke all on function :schema.due_with_engines(bytea, bigint) from public;
