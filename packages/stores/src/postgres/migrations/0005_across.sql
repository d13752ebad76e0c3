-- The index of work and the heads across tenants, for workers and polls. It holds nothing of a session's
-- content: its names and numbers alone. Only a role to which these functions are granted can use it.

-- Row-level security holds for the owner of the tables too, so these functions have to be let through
-- it. They are known by a search_path that ends with a schema that is not there: a function may have a
-- setting of its own only if it is one that every role may set. No role but the owner has such a policy,
-- whatever it sets.
create policy across on session for select to current_user
  using (current_setting('search_path') like '%, millrace_across');

-- The beats of drivers that serve all tenants have no tenant. Every tenant may read them, and only the
-- functions write them.
alter policy tenant on driver using (tenant <> '' and tenant = current_setting('millrace.tenant', true));
create policy shared on driver for select using (tenant = '');
create policy across on driver to current_user
  using (current_setting('search_path') like '%, millrace_across');

select set_config('search_path', current_setting('search_path') || ', millrace_across', true);

create function due_sessions(except_driver bytea, most bigint)
returns table (
  uid text, tenant text, name bytea, head bigint, incarnation integer, run bytea, driver bytea,
  beat numeric
)
language sql stable security definer
set search_path from current as $$
  select s.uid, s.tenant, s.name, s.head, s.incarnation, s.run, s.driver,
    (select sum(d.beat) from driver d where d.name = s.driver and d.tenant in (s.tenant, ''))
  from session s
  where s.due_since is not null
    and (except_driver is null or s.driver is distinct from except_driver)
  order by s.due_since limit most
$$;

create function session_heads(session_uids text[]) returns table (uid text, head bigint)
language sql stable security definer
set search_path from current as $$
  select given.uid, found.head from unnest(session_uids) as given (uid) cross join lateral
    (select s.head from session s where s.uid = given.uid limit 1) as found
$$;

create function beat_driver(driver_name bytea) returns void
language sql volatile security definer
set search_path from current as $$
  insert into driver as known (tenant, name, beat) values ('', driver_name, 1)
  on conflict (tenant, name) do update set beat = known.beat + 1, at = clock_timestamp()
$$;

create function leave_driver(driver_name bytea) returns void
language sql volatile security definer
set search_path from current as $$
  delete from driver
  where tenant = '' and (name = driver_name or at < clock_timestamp() - interval '1 day')
$$;

revoke execute on function due_sessions(bytea, bigint), session_heads(text[]), beat_driver(bytea),
  leave_driver(bytea) from public;

select set_config('search_path', replace(current_setting('search_path'), ', millrace_across', ''), true);
