-- The key of a session, which its readers check with what comes by other ways than this database. A
-- volatile default, so that each row that is there gets one of its own too. A UUID has 122 random bits.
-- Only one statement of the store reads the column; row-level security holds for it as for the row.
alter table session add column key bytea not null
  default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
