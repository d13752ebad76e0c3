// For authors of dialects: the rows of routes, what a route's function gets, and what it does with a session.
export type { Dialect, DialectRoute } from "./http/dialect.ts";
export type { RefusalFormat, RequestBody, Route, RouteAnswer } from "./http/route.ts";
export type { ObjectShape, Shape } from "./http/shape.ts";
export {
  anyFields,
  fields,
  flag,
  listOf,
  openFields,
  sessionIdPattern,
  shortText,
  text,
} from "./http/shapes.ts";
export type { RouteContext, RouteWork } from "./http/route-context.ts";
export type { Answer as RouteResponse } from "./http/answer.ts";
export { isRetryable, notFound, Problem } from "./http/problem.ts";
export { untilGrid } from "./http/grid.ts";
export type { SessionAction } from "./http/identity.ts";
export { inboxOf, sessionOf } from "./routes/common.ts";
export { problemOf } from "./routes/refusals.ts";
export { isRepeat, post, refuseChild } from "./routes/post-input.ts";
export { checkMediaType } from "./routes/blobs.ts";
export { attachmentsOf, sentParts } from "./routes/sent-parts.ts";
export { sessionStream } from "./routes/session-stream.ts";
export { readBack } from "./routes/read-back.ts";
export type { ReadBackOptions } from "./routes/read-back.ts";
export { readRunFacts } from "./routes/read-run.ts";
export { makeOnce } from "./routes/make-once.ts";
export { createdBy, generatedId, marked } from "./routes/created-by.ts";
