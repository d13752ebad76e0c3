import "./check-node.ts";
import { MillraceError } from "../errors.ts";

/** What an option may be: a test, and in words what to pass instead. */
export interface OptionCheck {
  readonly accepts: (value: unknown) => boolean;
  /** Completes "…: ", such as `use a whole number from 1`. */
  readonly fix: string;
  /** The value may be a secret, so a message has only its type. */
  readonly secret?: boolean | undefined;
}

/** One check for each option. An option without a check does not compile, so that none is forgotten. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck };

/** The public function whose options are checked. */
export interface Door {
  /** As users write it. */
  readonly name: string;
  /** Frames of this function and of what it called are left out of the stack: its first line is the caller's. */
  // Only compared by the engine, never called.
  readonly from: (...values: never[]) => unknown;
  /** Names of options in other libraries, and what to write here. */
  readonly hints?: Readonly<Record<string, string>> | undefined;
  /**
   * True if callers spread a larger object into the options, such as a record of the store or the ports of a
   * process: names that are no option are ignored then, unless they have a hint.
   */
  readonly spread?: boolean | undefined;
  /** What the options are in, such as `limits`. */
  readonly inside?: string | undefined;
}

/**
 * Checks the options of a public function. Throws `invalid_definition` for the first that can't be used
 * and, unless the door allows it, for a name that is no option: its message names the function, the option, the value and what to
 * write instead. An option that is undefined counts as left out.
 */
export function checkOptions<Options>(
  door: Door,
  options: unknown,
  checks: OptionChecks<Options>,
): void {
  const { name, inside, spread = false, hints = {} } = door;
  const place = inside === undefined ? "" : `${inside}.`;
  if (!isRecord(options)) {
    const what = inside === undefined ? "the options are" : `${inside} is`;
    const known = Object.keys(checks).join(", ");
    throw refusal(door, `${what} ${shown(options)}: pass an object with ${known}`);
  }
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(checks, option)) continue;
    if (spread && !Object.hasOwn(hints, option)) continue;
    const hint = hints[option] ?? `the options are ${Object.keys(checks).join(", ")}`;
    throw refusal(door, `${place}${option} is no option of ${name}: ${hint}`);
  }
  for (const [option, check] of Object.entries<OptionCheck>(checks)) {
    checkOption(door, `${place}${option}`, options[option], check);
  }
}

/** Checks one value that is no option by name, such as the first argument. */
export function checkOption(door: Door, option: string, value: unknown, check: OptionCheck): void {
  if (check.accepts(value)) return;
  const is = check.secret === true && value !== undefined ? `a ${typeof value}` : shown(value);
  throw refusal(door, `${option} is ${is}: ${check.fix}`);
}

/** The error for a value at this door. Its stack begins with the caller of the door. */
export function refusal({ name, from }: Door, message: string): MillraceError {
  const error = new MillraceError("invalid_definition", `${name}: ${message}`);
  capture(error, from);
  return error;
}

/** Where the caller of a public function is, for an error that is thrown later. */
export interface CallSite {
  readonly stack?: string;
}

/** The place of the caller of `from`, without the frames of `from` and of what it called. */
export function callSiteOf(from: Door["from"]): CallSite {
  const site: CallSite = {};
  capture(site, from);
  return site;
}

/** Gives an error the stack of a caller: where the program is to be changed, not where it was noticed. */
export function withStackOf<E extends Error>({ stack }: CallSite, error: E): E {
  if (stack === undefined) return error;
  const frames = stack.slice(stack.indexOf("\n    at "));
  return Object.assign(error, { stack: `${error.name}: ${error.message}${frames}` });
}

function capture(target: object, from: Door["from"]): void {
  const { captureStackTrace } = Error as {
    captureStackTrace?: (target: object, from: unknown) => void; // absent in some engines
  };
  captureStackTrace?.(target, from);
}

/** The usual checks. Each takes what to write instead, where that is more than its own rule. */
export const expects: {
  readonly text: (fix?: string) => OptionCheck;
  readonly flag: OptionCheck;
  /** A number above 0, whole or not. `Infinity` counts. */
  readonly above0: (unit?: string) => OptionCheck;
  /** A number that is 0 or above. `Infinity` counts. */
  readonly from0: (unit: string) => OptionCheck;
  /** A whole number from `least`. `Infinity` counts. */
  readonly whole: (least: number) => OptionCheck;
  readonly oneOf: (...values: readonly string[]) => OptionCheck;
  readonly list: (fix: string) => OptionCheck;
  readonly record: (fix?: string) => OptionCheck;
  readonly call: (fix?: string) => OptionCheck;
  /** An object, or a function, with these methods. */
  readonly having: (methods: readonly string[], fix: string) => OptionCheck;
  readonly optional: (check: OptionCheck) => OptionCheck;
  readonly either: (a: OptionCheck, b: OptionCheck, fix: string) => OptionCheck;
  readonly anything: OptionCheck;
} = {
  text: (fix = "use a text") => ({ accepts: isText, fix }),
  flag: { accepts: (value) => typeof value === "boolean", fix: "use true or false" },
  above0: (unit = "a number") => ({
    accepts: (value) => typeof value === "number" && value > 0,
    fix: `use ${unit} above 0`,
  }),
  from0: (unit) => ({
    accepts: (value) => typeof value === "number" && value >= 0,
    fix: `use ${unit} that is 0 or above`,
  }),
  whole: (least) => ({
    accepts: (value) => (Number.isInteger(value) || value === Infinity) && Number(value) >= least,
    fix: `use a whole number from ${least}`,
  }),
  oneOf: (...values) => ({
    accepts: (value) => values.some((each) => each === value),
    fix: `use ${values.map((each) => JSON.stringify(each)).join(" or ")}`,
  }),
  list: (fix) => ({ accepts: Array.isArray, fix }),
  record: (fix = "use an object") => ({ accepts: isRecord, fix }),
  call: (fix = "use a function") => ({ accepts: (value) => typeof value === "function", fix }),
  having: (methods, fix) => ({
    accepts: (value) =>
      isRecord(value) && methods.every((method) => typeof value[method] === "function"),
    fix,
  }),
  optional: (check) => ({
    ...check,
    accepts: (value) => value === undefined || check.accepts(value),
  }),
  either: (a, b, fix) => ({ accepts: (value) => a.accepts(value) || b.accepts(value), fix }),
  anything: { accepts: () => true, fix: "" },
};

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value in a few words. What an object holds is left out: it may be a secret. */
export function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return JSON.stringify(withoutLogin(value.slice(0, 80)));
  if (typeof value === "function") return "a function";
  if (value instanceof Promise) return "a promise (await it first)";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (!isRecord(value)) return `${value as number | boolean | null}`;
  const names = Object.keys(value).slice(0, 8).join(", ");
  return names === "" ? "an object without fields" : `an object with ${names}`;
}

/** An address without user and password, as messages show it. A text that is no address stays. */
export function withoutLogin(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1");
}
