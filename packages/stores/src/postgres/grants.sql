-- What the application's role may do. Facts are never changed, and deleted by remove_session alone.
grant usage on schema :schema to :role;
grant select, insert, update on session to :role;
grant select, insert on fact to :role;
grant select, insert, update, delete on item to :role;
grant select, insert, update, delete on checkpoint, driver to :role;
grant select on readable_fact, run, input, tool_execution, approval, usage to :role;
grant select on migration to :role;
grant execute on function remove_session(text) to :role;
