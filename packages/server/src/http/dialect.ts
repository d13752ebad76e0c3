import type { RouteWork } from "./route-context.ts";
import type { Route } from "./route.ts";

/** A format of another library that a server serves beside its own. */
export interface Dialect {
  /** Unique on a server. Errors name it. */
  readonly name: string;
  readonly routes: readonly DialectRoute[];
  /** Headers that its clients add to requests, so that pages of other origins may send them. */
  readonly requestHeaders?: readonly string[] | undefined;
}

/** A route of a dialect: its row, and the function that answers it. */
export interface DialectRoute extends Route {
  readonly work: RouteWork;
}

/**
 * Why these dialects can't be served together, and what to do: two of one name, or a route whose name or path
 * another one has. Paths collide if one request could match both; the verb does not count, so that a path's
 * `Allow` is of one dialect. Undefined: they can.
 */
export function dialectCollision(
  dialects: readonly Dialect[],
  own: readonly Route[],
): string | undefined {
  const names = new Set<string>();
  const taken = own.map((route) => ({ owner: "the server", route }));
  for (const { name, routes } of dialects) {
    const owner = `the dialect ${JSON.stringify(name)}`;
    if (names.has(name)) return `${owner} is given twice: leave one of them out`;
    names.add(name);
    for (const route of routes) {
      const fix = "leave one of them out, or give it another path and other names of routes";
      for (const other of taken) {
        if (other.route.name === route.name)
          return `${owner} and ${other.owner} both name a route ${route.name}: ${fix}`;
        if (other.owner !== owner && overlap(other.route.path, route.path))
          return `${owner} and ${other.owner} both serve ${route.path}: ${fix}`;
      }
      taken.push({ owner, route });
    }
  }
  return undefined;
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [one.split("/"), other.split("/")];
  if (a.length !== b.length) return false;
  return a.every((segment, at) => {
    const beside = b[at] ?? "";
    return segment === beside || segment.startsWith("{") || beside.startsWith("{");
  });
}
