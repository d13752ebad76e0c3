export { postgresBlobs } from "./postgres-blobs.ts";
export type { PostgresBlobs, PostgresBlobsOptions } from "./postgres-blobs.ts";
export { postgresStore } from "./postgres-store.ts";
export type { PostgresStore, PostgresStoreOptions } from "./postgres-store.ts";
export { printSql } from "./migrate.ts";
export type { MigrateOptions } from "./migrate.ts";
export type {
  FactAnchor,
  SessionFaultCode,
  SessionVerdict,
  PostgresVerifyOptions,
} from "./verify.ts";
