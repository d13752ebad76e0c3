import { MillraceError } from "@millrace/core";
import { isWellFormed } from "@millrace/core/wire";

/** Names and values that a process starts with. `undefined` takes a name away. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that marks the processes of an execution, whatever session or parent they move to. */
export const executionVariable = "MILLRACE_EXECUTION";

/** How the processes of one `runProcess` are marked. */
export interface Mark {
  /** The variable's value. */
  readonly value: string;
  /** True for the value of a process that this one started, at any depth. */
  readonly matches: (value: string) => boolean;
}

/**
 * Makes a mark. An execution may start several processes, also at once, so each mark holds an id of
 * its own beside the execution's: ending one process must not end its siblings. If this process is
 * itself a tool's process, the inherited marks stay in the list, so that its parent finds our children.
 */
export function createMark(execution: string, own: string, inherited: string | undefined): Mark {
  const entry = `${entryPrefix(execution)}${own}`;
  const value = inherited === undefined || inherited === "" ? entry : `${inherited},${entry}`;
  return { value, matches: (other) => other.split(",").includes(entry) };
}

/** True for the value of every process of the execution, whichever `runProcess` started it. */
export function matchesExecution(execution: string): (value: string) => boolean {
  const prefix = entryPrefix(execution);
  return (value) => value.split(",").some((entry) => entry.startsWith(prefix));
}

/** Neither `,` nor `:` stands in an encoded execution, so no execution's prefix fits another's entry. */
function entryPrefix(execution: string): string {
  if (execution === "" || execution.length > 1024 || !isWellFormed(execution)) {
    throw new MillraceError("invalid_id", "an execution needs 1 to 1024 well-formed characters");
  }
  return `${encodeURIComponent(execution)}:`;
}

const passedOn: ReadonlySet<string> = new Set(
  ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ"].concat([
    "TMPDIR",
    "TMP",
    "TEMP",
  ]),
);

/**
 * The environment of a child: of our own only the names that programs need to run at all, because
 * the rest holds keys; then the caller's; then the mark, which the caller can't override.
 */
export function environmentOf(own: Environment, given: Environment, mark: Mark): Environment {
  const base = Object.entries(own).filter(
    ([name]) => passedOn.has(name) || /^LC_[A-Z]+$/.test(name),
  );
  const entries = [...base, ...Object.entries(given), [executionVariable, mark.value] as const];
  const chosen = new Map<string, string | undefined>(entries);
  return Object.fromEntries([...chosen].filter(([, value]) => value !== undefined));
}
