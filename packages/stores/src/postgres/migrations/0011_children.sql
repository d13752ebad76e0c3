-- Whose child a sub-agent's session is: a name may be used again, a uid never is. Null in rows of earlier releases,
-- whose parent's uid is in their own name.
alter table :schema.session add column parent_uid text collate "C";
