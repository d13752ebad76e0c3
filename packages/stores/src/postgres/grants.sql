-- What the application's role may do. Facts are never changed, and deleted by remove_session alone.
-- Columns that name a session, its tenant or its key are written once. What an earlier release granted
-- beyond that is taken back first.
revoke all on all tables in schema :schema from :role;
revoke all on schema :schema from :role;
grant usage on schema :schema to :role;
grant select on :schema.session to :role;
grant insert (uid, tenant, name, metadata, incarnation, head, closed, closed_lanes, chain, run, queue,
  driver, due_since, calls, updated_at, status, owner, title, title_folded, parent, parent_call,
  parent_uid, created_at) on :schema.session to :role;
grant update (incarnation, head, closed, closed_lanes, floors, chain, version, run, queue, driver,
  due_since, reset, calls, updated_at, status, title, title_folded, metadata_now, revision) on :schema.session to :role;
grant select, insert on :schema.fact to :role;
grant select, insert, update, delete on :schema.item to :role;
grant select, insert, update, delete on :schema.checkpoint, :schema.driver to :role;
grant select, insert on :schema.engine_claim to :role;
grant select, insert, delete on :schema.blob, :schema.blob_piece to :role;
grant update (hash, size, at, named) on :schema.blob to :role;
grant select on :schema.readable_fact, :schema.run, :schema.input, :schema.tool_execution,
  :schema.approval, :schema.usage to :role;
grant select on :schema.migration, :schema.tombstone to :role;
grant execute on function :schema.remove_session(text),
  :schema.remove_session(text, text, text) to :role;
