import { isJsonObject } from "@millrace/core/wire";
import { Problem } from "./problem.ts";
import type { Route } from "./route.ts";

/** How much a client wants a media type by its `Accept`: 0 to 1. Without the header all are fine. */
function acceptance(accept: string | undefined, type: string): number {
  if (accept === undefined || accept.trim() === "") return 1;
  const [family = ""] = type.split("/", 1);
  let best = { exactness: -1, quality: 0 };
  for (const range of accept.toLowerCase().split(",", 64)) {
    const [name = "", ...parameters] = range.split(";").map((each) => each.trim());
    const exactness = name === type ? 2 : name === `${family}/*` ? 1 : name === "*/*" ? 0 : -1;
    if (exactness <= best.exactness) continue;
    const quality = parameters.find((each) => each.startsWith("q="))?.slice(2);
    const value = quality === undefined ? 1 : Number(quality);
    best = { exactness, quality: Number.isFinite(value) ? value : 0 };
  }
  return best.quality;
}

/** The form of the answer. Throws `not_acceptable` if the client takes none that the route has. */
export function formOf(route: Route, accept: string | undefined): "json" | "stream" {
  const json = acceptance(accept, "application/json");
  const stream = acceptance(accept, "text/event-stream");
  switch (route.stream) {
    case "asked":
      // Named, not merely covered by a wildcard: the default of this route is one answer.
      if (stream > 0 && /text\/event-stream/i.test(accept ?? "") && stream >= json) return "stream";
      if (json > 0) return "json";
      throw notAcceptable("application/json or text/event-stream");
    case "preferred":
      if (stream > 0 && stream >= json) return "stream";
      if (json > 0) return "json";
      throw notAcceptable("text/event-stream or application/json");
    case "always":
      if (stream > 0) return "stream";
      throw notAcceptable("text/event-stream");
    case "named": // by what is read next
      return "json";
    case "never":
      if (json > 0 || !answersJson(route)) return "json";
      throw notAcceptable("application/json");
    default:
      return route.stream satisfies never;
  }
}

/** The form of an answer whose request says itself which it wants. */
export function namedForm(query: unknown, body: unknown): "json" | "stream" {
  const isAsked = (said: unknown): boolean => isJsonObject(said) && said["stream"] === true;
  return isAsked(query) || isAsked(body) ? "stream" : "json";
}

function answersJson({ answers }: Route): boolean {
  return Object.values(answers).some(({ json }) => json !== undefined);
}

function notAcceptable(types: string): Problem {
  return new Problem("not_acceptable", `this address answers ${types}`);
}

/** Milliseconds of `Prefer: wait=<seconds>`, at most so many. 0 without one. */
export function waitOf(prefer: string | undefined, mostMs: number): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(prefer ?? "") ?? [];
  return seconds === undefined ? 0 : Math.min(Number(seconds) * 1_000, mostMs);
}
