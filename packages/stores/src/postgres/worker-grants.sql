-- What the role of workers may do besides: see which sessions have work or old blobs, of all tenants.
grant execute on function :schema.due_sessions(bytea, bigint),
  :schema.due_with_engines(bytea, bigint), :schema.session_heads(text[]),
  :schema.beat_driver(bytea), :schema.leave_driver(bytea),
  :schema.old_blob_places(double precision, text, bigint) to :role;
