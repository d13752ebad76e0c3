-- Sessions, their facts, and which fact holds which item. Everything that a rule decides by is in the
-- session's one row or is a unique key, so that READ COMMITTED is enough.

create table session (
  uid text collate "C" primary key,
  tenant text collate "C" not null,
  -- The name in UTF-16, high byte first: any text, in the order of its units, whatever the collation.
  name bytea not null,
  -- JSON as text, since jsonb can't hold U+0000. So are the bodies of facts.
  metadata text not null,
  incarnation integer not null default 0,
  head bigint not null default 0,
  -- Every lane is closed up to this epoch, these lanes further, and these are open.
  closed bigint not null default 0,
  closed_lanes jsonb not null default '{}',
  floors jsonb not null default '{}',
  -- The hash of the last fact, or of what the session began with.
  chain bytea not null,
  -- Raised by every write. Whoever compares it knows the whole row.
  version bigint not null default 0,
  unique (tenant, name)
) with (fillfactor = 80); -- room for the next version of a row on its own page

create table fact (
  uid text collate "C" not null,
  n bigint not null,
  tenant text collate "C" not null,
  type text collate "C" not null,
  -- The input or the question that it is about.
  about bytea,
  -- The hash of the idempotency key under which a person said it.
  key bytea,
  -- Which call stored it: asked for only when the answer to that call was lost.
  token text collate "C",
  -- The fact as on the wire.
  body text not null,
  -- SHA-256 of the hash before, the key and the body.
  hash bytea not null,
  primary key (uid, n)
) partition by hash (uid);

create table fact_0 partition of fact for values with (modulus 8, remainder 0);
create table fact_1 partition of fact for values with (modulus 8, remainder 1);
create table fact_2 partition of fact for values with (modulus 8, remainder 2);
create table fact_3 partition of fact for values with (modulus 8, remainder 3);
create table fact_4 partition of fact for values with (modulus 8, remainder 4);
create table fact_5 partition of fact for values with (modulus 8, remainder 5);
create table fact_6 partition of fact for values with (modulus 8, remainder 6);
create table fact_7 partition of fact for values with (modulus 8, remainder 7);

create unique index fact_key on fact (uid, key) where key is not null;
create unique index fact_input on fact (uid, about) where type = 'input_accepted';
create index fact_about on fact (uid, about, n) where about is not null;

-- The fact that an item's content is in now. Made anew by a reset; no record of its own.
create table item (
  uid text collate "C" not null,
  item_id bytea not null,
  n bigint not null,
  tenant text collate "C" not null,
  primary key (uid, item_id)
);

-- The second lock: whoever forgets the tenant in a query sees nothing of another one's. FORCE, so that
-- it also holds for an application that connects as the owner.
alter table session enable row level security;
alter table session force row level security;
create policy tenant on session using (tenant = current_setting('millrace.tenant', true));
alter table fact enable row level security;
alter table fact force row level security;
create policy tenant on fact using (tenant = current_setting('millrace.tenant', true));
alter table item enable row level security;
alter table item force row level security;
create policy tenant on item using (tenant = current_setting('millrace.tenant', true));

-- The one way in which facts are deleted, for a role that may not delete them. Each statement sees
-- what was committed before it began, so none of a session that is being written is left over.
create function remove_session(session_uid text) returns void
language sql volatile security definer set search_path from current as $$
  select 1 from session
    where uid = session_uid and tenant = current_setting('millrace.tenant', true) for update;
  delete from fact where uid = session_uid and tenant = current_setting('millrace.tenant', true);
  delete from item where uid = session_uid and tenant = current_setting('millrace.tenant', true);
  delete from session where uid = session_uid and tenant = current_setting('millrace.tenant', true);
$$;
revoke execute on function remove_session(text) from public;
