/** The headers of an event stream. No cache on the way may keep the events, and no proxy may buffer them. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;
