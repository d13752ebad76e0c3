-- Which sessions have work, which drivers live, and checkpoints. Nothing here is a record: work is made
-- of the facts, a lost beat is beaten again, and a lost checkpoint costs reading all facts.

alter table session
  -- The run that is on.
  add column run bytea,
  -- The waiting inputs as JSON: id and kind. Null: the row was written before this migration, and its
  -- work is counted from all facts at the next write.
  add column queue text,
  -- The driver that made the last claim, unless it has released the session.
  add column driver bytea,
  -- Since when it has had work, by the database's clock. Null: none.
  add column due_since timestamptz,
  -- The number of the last claim that undid facts. A checkpoint below it may hold what was undone.
  add column reset bigint not null default 0;

create index session_due on session (tenant, due_since) where due_since is not null;

-- The signs of life of drivers. Not logged: a beat does not wait for the disk. After a crash of the
-- server the table is empty, and drivers that live beat again. `at` is for deleting old rows only.
create unlogged table driver (
  tenant text collate "C" not null,
  name bytea not null,
  beat bigint not null,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant, name)
) with (fillfactor = 50);

create table checkpoint (
  uid text collate "C" primary key,
  tenant text collate "C" not null,
  head bigint not null,
  text text not null
);

alter table driver enable row level security;
alter table driver force row level security;
create policy tenant on driver using (tenant = current_setting('millrace.tenant', true));
alter table checkpoint enable row level security;
alter table checkpoint force row level security;
create policy tenant on checkpoint using (tenant = current_setting('millrace.tenant', true));

create or replace function remove_session(session_uid text) returns void
language sql volatile security definer set search_path from current as $$
  select 1 from session
    where uid = session_uid and tenant = current_setting('millrace.tenant', true) for update;
  delete from fact where uid = session_uid and tenant = current_setting('millrace.tenant', true);
  delete from item where uid = session_uid and tenant = current_setting('millrace.tenant', true);
  delete from checkpoint
    where uid = session_uid and tenant = current_setting('millrace.tenant', true);
  delete from session where uid = session_uid and tenant = current_setting('millrace.tenant', true);
$$;
