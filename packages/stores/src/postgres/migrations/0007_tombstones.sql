-- What is left of a removed session: which, when, and by which actor. Nothing of its content, and its
-- name as a hash only, since a name may be a person's.

create table :schema.tombstone (
  uid text collate "C" primary key,
  tenant text collate "C" not null,
  -- The session whose removal took this one along: its own uid, or that of an agent further up.
  root text collate "C" not null,
  -- SHA-256 of the name as `session` has it.
  name bytea not null,
  -- JSON as text, as it was given.
  actor text,
  at timestamptz not null default pg_catalog.clock_timestamp()
);

create index tombstone_name on :schema.tombstone (tenant, name, at);
create index tombstone_root on :schema.tombstone (root);

alter table :schema.tombstone enable row level security;
alter table :schema.tombstone force row level security;
create policy tenant on :schema.tombstone
  using (tenant = pg_catalog.current_setting('millrace.tenant', true));

-- Removes one session and leaves its tombstone, in one transaction. The first statement waits for a
-- write under way, and each one after it sees what that wrote.
create function :schema.remove_session(session_uid text, root_uid text, removing_actor text)
returns void
language sql volatile security definer set search_path = :schema, pg_temp
begin atomic
  insert into :schema.tombstone (uid, tenant, root, name, actor)
    select uid, tenant, root_uid, pg_catalog.sha256(name), removing_actor from :schema.session
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

-- For processes of the release before, which remove by this one.
create or replace function :schema.remove_session(session_uid text) returns void
language sql volatile security definer set search_path = :schema, pg_temp
begin atomic
  select :schema.remove_session(session_uid, session_uid, null);
end;

revoke all on :schema.tombstone from public;
revoke all on function :schema.remove_session(text, text, text) from public;
