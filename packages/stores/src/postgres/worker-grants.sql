-- What the role of workers may do besides: see which sessions have work, of all tenants.
grant execute on function due_sessions(bytea, bigint), session_heads(text[]), beat_driver(bytea),
  leave_driver(bytea) to :role;
