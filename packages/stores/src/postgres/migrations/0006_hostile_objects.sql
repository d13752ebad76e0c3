-- Functions that run as their owner look nothing up at run time. A caller's temporary objects are
-- searched first unless pg_temp is named in the search path, so it is named, and last. Besides, bodies
-- are bound to the tables and operators of this schema now (`begin atomic`), and every name has its schema.

create or replace function :schema.remove_session(session_uid text) returns void
language sql volatile security definer set search_path = :schema, pg_temp
begin atomic
  select 1 from :schema.session
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true) for update;
  delete from :schema.fact
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
  delete from :schema.item
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
  delete from :schema.checkpoint
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
  delete from :schema.session
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
end;

-- The functions across tenants are known to their policies by the last name of their search path.

create or replace function :schema.due_sessions(except_driver bytea, most bigint)
returns table (
  uid text, tenant text, name bytea, head bigint, incarnation integer, run bytea, driver bytea,
  beat numeric
)
language sql stable security definer set search_path = :schema, pg_temp, millrace_across
begin atomic
  select s.uid, s.tenant, s.name, s.head, s.incarnation, s.run, s.driver,
    (select pg_catalog.sum(d.beat) from :schema.driver d
     where d.name = s.driver and d.tenant in (s.tenant, ''))
  from :schema.session s
  where s.due_since is not null
    and (except_driver is null or s.driver is distinct from except_driver)
  order by s.due_since limit most;
end;

create or replace function :schema.session_heads(session_uids text[])
returns table (uid text, head bigint)
language sql stable security definer set search_path = :schema, pg_temp, millrace_across
begin atomic
  select given.uid, found.head
  from pg_catalog.unnest(session_uids) as given (uid) cross join lateral
    (select s.head from :schema.session s where s.uid = given.uid limit 1) as found;
end;

create or replace function :schema.beat_driver(driver_name bytea) returns void
language sql volatile security definer set search_path = :schema, pg_temp, millrace_across
begin atomic
  insert into :schema.driver as known (tenant, name, beat) values ('', driver_name, 1)
  on conflict (tenant, name) do update
    set beat = known.beat + 1, at = pg_catalog.clock_timestamp();
end;

create or replace function :schema.leave_driver(driver_name bytea) returns void
language sql volatile security definer set search_path = :schema, pg_temp, millrace_across
begin atomic
  delete from :schema.driver
  where tenant = ''
    and (name = driver_name or at < pg_catalog.clock_timestamp() - interval '1 day');
end;

-- A partition that is read by its own name has policies of its own: without them its owner sees all
-- tenants. Reads through the parent are checked by the parent's policies, at no further cost.
alter table :schema.fact_0 enable row level security;
alter table :schema.fact_0 force row level security;
create policy tenant on :schema.fact_0 using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.fact_1 enable row level security;
alter table :schema.fact_1 force row level security;
create policy tenant on :schema.fact_1 using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.fact_2 enable row level security;
alter table :schema.fact_2 force row level security;
create policy tenant on :schema.fact_2 using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.fact_3 enable row level security;
alter table :schema.fact_3 force row level security;
create policy tenant on :schema.fact_3 using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.fact_4 enable row level security;
alter table :schema.fact_4 force row level security;
create policy tenant on :schema.fact_4 using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.fact_5 enable row level security;
alter table :schema.fact_5 force row level security;
create policy tenant on :schema.fact_5 using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.fact_6 enable row level security;
alter table :schema.fact_6 force row level security;
create policy tenant on :schema.fact_6 using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.fact_7 enable row level security;
alter table :schema.fact_7 force row level security;
create policy tenant on :schema.fact_7 using (tenant = pg_catalog.current_setting('millrace.tenant', true));

-- What a database may have granted to every role by its default privileges.
revoke all on schema :schema from public;
revoke all on all tables in schema :schema from public;
revoke all on all functions in schema :schema from public;
