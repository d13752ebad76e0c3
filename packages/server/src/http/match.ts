import { Problem, notFound } from "./problem.ts";
import type { Route } from "./route.ts";

/** A route, and the parameters of its path. */
export interface Matched {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** All routes of one path, by verb. */
interface RoutePath {
  readonly segments: readonly string[];
  readonly routes: Map<string, Route>;
}

/** Finds routes by path and verb. The cost grows with the routes of the same length, not with all. */
export class RouteTable {
  readonly #paths = new Map<number, RoutePath[]>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = route.path.slice(1).split("/");
      const sameLength = this.#paths.get(segments.length) ?? [];
      this.#paths.set(segments.length, sameLength);
      const known = sameLength.find((path) => path.segments.join("/") === segments.join("/"));
      const path = known ?? { segments, routes: new Map<string, Route>() };
      if (known === undefined) sameLength.push(path);
      path.routes.set(route.method, route);
    }
  }

  /** The verbs of a path, and its parameters. Throws the one 404 if there is no such path. */
  find(segments: readonly string[]): {
    readonly verbs: readonly string[];
    readonly match: (method: string) => Matched;
  } {
    for (const path of this.#paths.get(segments.length) ?? []) {
      const params = paramsOf(path.segments, segments);
      if (params === undefined) continue;
      const verbs = verbsOf(path);
      return { verbs, match: (method) => ({ route: routeFor(path, method, verbs), params }) };
    }
    throw notFound();
  }
}

/** The verbs that a path answers: HEAD where GET is no stream, and OPTIONS everywhere. */
function verbsOf({ routes }: RoutePath): readonly string[] {
  const verbs = [...routes.keys()];
  if (routes.get("GET")?.stream === "never") verbs.push("HEAD");
  return [...verbs, "OPTIONS"];
}

function routeFor({ routes }: RoutePath, method: string, verbs: readonly string[]): Route {
  const route = verbs.includes(method) ? routes.get(method === "HEAD" ? "GET" : method) : undefined;
  if (route !== undefined) return route;
  const allow = verbs.join(", ");
  const detail = `this address answers ${allow}`;
  throw new Problem("method_not_allowed", detail, { headers: { allow } });
}

function paramsOf(
  template: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const params: Record<string, string> = {};
  for (const [at, expected] of template.entries()) {
    const given = segments[at] ?? "";
    if (expected.startsWith("{")) {
      if (given === "") return undefined;
      params[expected.slice(1, -1)] = given;
    } else if (given !== expected) return undefined;
  }
  return params;
}
