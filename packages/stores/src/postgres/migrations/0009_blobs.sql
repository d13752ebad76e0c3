-- Bytes that are too large for facts, in pieces. Rows and not large objects: those have no row-level
-- security, no owner that a removal follows, and no reference that a constraint could check.

create table :schema.blob (
  -- One put. Its pieces are stored one by one, and nothing finds them before it has its hash.
  upload text collate "C" primary key,
  uid text collate "C" not null references :schema.session (uid) on delete cascade,
  tenant text collate "C" not null,
  -- SHA-256 of all its bytes. Null while they come.
  hash bytea,
  size bigint,
  media_type text not null,
  -- From when its age counts.
  at timestamptz not null default pg_catalog.clock_timestamp(),
  -- A fact names it: no sweep has to ask again.
  named boolean not null default false,
  unique (uid, hash)
);

create index blob_old on :schema.blob (at) where not named;

create table :schema.blob_piece (
  upload text collate "C" not null references :schema.blob (upload) on delete cascade,
  -- Counted from 0. Each but the last has the same size.
  n integer not null,
  tenant text collate "C" not null,
  bytes bytea not null,
  primary key (upload, n)
);
-- Images and archives don't get smaller, and a range of what is not compressed is read alone.
alter table :schema.blob_piece alter column bytes set storage external;

alter table :schema.blob enable row level security;
alter table :schema.blob force row level security;
create policy tenant on :schema.blob
  using (tenant = pg_catalog.current_setting('millrace.tenant', true));
alter table :schema.blob_piece enable row level security;
alter table :schema.blob_piece force row level security;
create policy tenant on :schema.blob_piece
  using (tenant = pg_catalog.current_setting('millrace.tenant', true));

-- For the sweep of a worker: which sessions of all tenants have old blobs. Nothing of the blobs.
create policy across on :schema.blob for select to current_user
  using (pg_catalog.current_setting('search_path') like '%, millrace_across');

create function :schema.old_blob_places(older_than_ms double precision, after_uid text, most bigint)
returns table (uid text, tenant text)
language sql stable security definer set search_path = :schema, pg_temp, millrace_across
begin atomic
  select distinct b.uid, b.tenant from :schema.blob b
  where not b.named and b.uid > after_uid
    and b.at < pg_catalog.clock_timestamp() - older_than_ms * interval '1 millisecond'
  order by b.uid limit most;
end;

revoke all on :schema.blob, :schema.blob_piece from public;
revoke all on function :schema.old_blob_places(double precision, text, bigint) from public;
