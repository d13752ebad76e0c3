// For processes that take inputs: they report to Temporal which sessions have some.
export { temporalDriver } from "./temporal-driver.ts";
export type { TemporalDriver } from "./temporal-driver.ts";
export type { TemporalDriverEvent, TemporalDriverOptions } from "./options.ts";
export type { TemporalConnectOptions } from "../connect-options.ts";
