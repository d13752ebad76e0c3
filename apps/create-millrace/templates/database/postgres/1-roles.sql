-- Runs once, when PostgreSQL makes its data. `owner` owns the tables and changes them in releases; `app` is what servers
-- and workers are. Row-level security holds for both: neither is superuser nor has BYPASSRLS.
\getenv owner_password OWNER_PASSWORD
\getenv app_password APP_PASSWORD
create role owner login nosuperuser nobypassrls nocreatedb nocreaterole password :'owner_password';
create role app login nosuperuser nobypassrls nocreatedb nocreaterole password :'app_password';
create database sessions owner owner;
revoke all on database sessions from public;
grant connect on database sessions to app;
