-- What a list shows of a session: its owner, its title, the call that it works on, times and status. Work
-- and status are made of the facts; the rest is given at creation, or changed by `update`.

alter table :schema.session
  -- The user to whom it belongs, and a title; bytes, since text can't hold U+0000.
  add column owner bytea,
  add column title bytea,
  -- The title as it is compared with what is looked for.
  add column title_folded bytea,
  -- Of a sub-agent's session: the name of the session whose call it works on, and the call. Empty: it is
  -- a sub-agent's by its name, and was made without them.
  add column parent bytea,
  add column parent_call bytea,
  -- The metadata since it was changed. The column `metadata` is what the hashes of the facts begin with.
  add column metadata_now text,
  -- Raised by each update of title or metadata.
  add column revision bigint not null default 1,
  -- Milliseconds since 1970.
  add column created_at bigint not null default 0,
  -- Of the last activity: a fact of a person, or a change of the status. No other fact changes it, nor any
  -- other column of an index, so that most writes stay on the row's own page.
  add column updated_at bigint not null default 0,
  -- As `due_since`: idle is what has none.
  add column status text collate "C" not null default 'idle',
  -- The calls without a result as JSON: id and what they wait for. Null: the row was written before this
  -- migration, and its work is counted from all facts at the next write.
  add column calls text;

alter table :schema.tombstone add column owner bytea;

-- The owner of the tables is held to row-level security too, and here all tenants are changed.
alter table :schema.session no force row level security;
alter table :schema.fact no force row level security;
update :schema.session s set
  created_at = coalesce((
    select (f.body::jsonb ->> 'time')::numeric::bigint from :schema.fact f
    where f.uid = s.uid and f.n = 1 and f.body !~ '\\u(0000|d[89a-f])'
  ), (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint),
  updated_at = coalesce((
    select (f.body::jsonb ->> 'time')::numeric::bigint from :schema.fact f
    where f.uid = s.uid and f.n = s.head and f.body !~ '\\u(0000|d[89a-f])'
  ), (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint),
  status = case when s.due_since is null then 'idle' else 'running' end,
  -- `sub_`, a uid, `_item_`.
  parent = case when pg_catalog.encode(s.name, 'hex') ~
    '^007300750062005f(00(2d|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])){1,64}?005f006900740065006d005f'
    then ''::bytea end;
alter table :schema.session force row level security;
alter table :schema.fact force row level security;

alter table :schema.session
  alter column created_at set default (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint,
  alter column updated_at set default (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint;

-- Pages: of a tenant, of an owner, of a session's sub-agents. Those of a status have `session_due`.
create index session_active on :schema.session (tenant, updated_at, uid) where parent is null;
create index session_owned on :schema.session (tenant, owner, updated_at, uid)
  where parent is null and owner is not null;
create index session_children on :schema.session (tenant, parent, updated_at, uid)
  where parent is not null;

create or replace function :schema.remove_session(session_uid text, root_uid text, removing_actor text)
returns void
language sql volatile security definer set search_path = :schema, pg_temp
begin atomic
  insert into :schema.tombstone (uid, tenant, root, name, actor, owner)
    select uid, tenant, root_uid, pg_catalog.sha256(name), removing_actor, owner from :schema.session
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true)
    for update
  on conflict (uid) do nothing;
  delete from :schema.fact
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
  delete from :schema.item
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
  delete from :schema.checkpoint
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
  delete from :schema.session
    where uid = session_uid and tenant = pg_catalog.current_setting('millrace.tenant', true);
end;
