import { execFile } from "node:child_process";
import process from "node:process";

/**
 * The first process of a namespace. When it ends, the kernel ends all others in it. It is a shell
 * and not the command itself, because the first process ignores signals that it doesn't handle, and
 * has to reap orphans. The shell's own remarks on how a command ended are not the command's output.
 */
const first = ["sh", "-c", 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?', "sh"];

/**
 * `setpriv` has the kernel kill `unshare` when we die, and `--kill-child` carries that on to the
 * namespace. Our thread counts: started in a worker thread, it dies with that.
 */
const unshare = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--pid", "--fork"].concat([
  "--kill-child",
  "--mount-proc",
]);

let prefix: Promise<readonly string[] | undefined> | undefined;

/** What to put before a command to run it in a PID namespace; `undefined` if this machine has none. Asked once. */
export function pidNamespacePrefix(): Promise<readonly string[] | undefined> {
  prefix ??= probe();
  return prefix;
}

/**
 * True if this machine lets us start a process in a PID namespace of its own. Needs Linux, util-linux,
 * and either root or user namespaces for all.
 */
export async function hasPidNamespaces(): Promise<boolean> {
  return (await pidNamespacePrefix()) !== undefined;
}

async function probe(): Promise<readonly string[] | undefined> {
  if (process.platform !== "linux") return undefined;
  // Prefer no user namespace: inside one, other users' files belong to the overflow user.
  for (const extra of [[], ["--user", "--map-current-user"]]) {
    const candidate = [...unshare, ...extra, "--", ...first];
    if (await works(candidate)) return candidate;
  }
  return undefined;
}

function works([file = "", ...rest]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { timeout: 3_000, killSignal: "SIGKILL" as const };
    execFile(file, [...rest, "true"], options, (error) => resolve(error === null));
  });
}
