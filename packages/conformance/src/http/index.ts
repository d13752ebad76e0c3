// The HTTP API's cases: plain requests against any implementation, in this process or elsewhere.
export { httpCases, httpCasesFor } from "./cases.ts";
export { httpLoadCases } from "./load-cases.ts";
export { httpSlowCases } from "./slow.ts";
export { startHttpRun } from "./http-case.ts";
export type { HttpCase, HttpGroup, HttpRun } from "./http-case.ts";
export { createHttpModel, httpCommands, slowText } from "./model.ts";
export { httpTools } from "./target.ts";
export type {
  HttpNeed,
  HttpServed,
  HttpSettings,
  HttpStoreState,
  HttpTarget,
  HttpWho,
} from "./target.ts";
export { httpRoutes } from "./matrix.ts";
export type { HttpAction, HttpRouteRow } from "./matrix.ts";
export { undescribed } from "./described.ts";
export type { SeenAnswer } from "./caller.ts";
