-- What the role of workers may do besides: see which sessions have work, of all tenants.
grant execute on function :schema.due_sessions(bytea, bigint), :schema.session_heads(text[]),
  :schema.beat_driver(bytea), :schema.leave_driver(bytea) to :role;
