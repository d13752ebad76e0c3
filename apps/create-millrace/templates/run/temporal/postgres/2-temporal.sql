-- Temporal makes its own databases, and reaches no other.
\getenv temporal_password SQL_PASSWORD
create role temporal login nosuperuser nobypassrls createdb nocreaterole password :'temporal_password';
