import { Problem } from "./problem.ts";
import { shapeFault } from "./shape.ts";
import type { Shape } from "./shape.ts";

/** Query parameters by name, as they were sent. */
export type RawQuery = ReadonlyMap<string, string>;
/** Checked parameters. Numbers and booleans are such. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Names under which programs put credentials into a URL, where logs and histories keep them. */
const tokenNames =
  /^(?:.*[_-])?(?:token|jwt|auth|authorization|bearer|apikey|api[_-]key|key|secret|password|credential|credentials|session[_-]?id)$/i;

/** Reads a query. Throws `invalid_request` for repeated names and bad encoding, `token_in_url` for tokens. */
export function readQuery(query: string): RawQuery {
  const read = new Map<string, string>();
  if (query === "") return read;
  for (const pair of query.split("&", 33)) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    if (tokenNames.test(name)) {
      const fix = "send Authorization, or take a ticket";
      throw new Problem("token_in_url", `credentials don't belong into a URL: ${fix}`);
    }
    if (read.has(name)) throw badQuery(name, "give it once");
    read.set(name, decode(at < 0 ? "" : pair.slice(at + 1)));
  }
  if (read.size > 32) throw badQuery("the query", "use fewer parameters");
  return read;
}

/** The parameters of a route. Throws `invalid_request` for unknown ones and for values that do not fit. */
export function checkQuery(raw: RawQuery, shapes: Readonly<Record<string, Shape>>): Query {
  const checked: Record<string, string | number | boolean> = {};
  for (const [name, value] of raw) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (shape === undefined) {
      const known = Object.keys(shapes).join(", ");
      throw badQuery(name, known === "" ? "there are no parameters here" : `there are ${known}`);
    }
    const read = valueOf(shape, value);
    const fault = shapeFault(shape, read);
    if (fault !== undefined) throw badQuery(name, fault.fix);
    checked[name] = read;
  }
  return checked;
}

/** The value that a text stands for. A text that stands for none stays, and does not fit. */
function valueOf(shape: Shape, value: string): string | number | boolean {
  if (!("type" in shape)) return value;
  if (shape.type === "integer") return /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (shape.type === "boolean") return value === "true" ? true : value === "false" ? false : value;
  return value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Problem("invalid_request", "the query is not well encoded: encode it as UTF-8");
  }
}

function badQuery(name: string, fix: string): Problem {
  const shown = name.slice(0, 64).replace(/[^\w.-]/g, "?");
  return new Problem("invalid_request", `query parameter ${shown}: ${fix}`);
}
