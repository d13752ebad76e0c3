import { spawn } from "node:child_process";
import process from "node:process";

import { warn } from "@millrace/core/checks";

import { findProgram } from "./find-program.ts";

/**
 * Whether a process gets a PID namespace of its own. `prefer`: wherever the machine gives one, with a
 * warning of this process where it gives none. `require`: else nothing is started. `off`: never.
 */
export type PidNamespace = "prefer" | "require" | "off";

/** What stands before a command to keep it apart from us. */
export interface Confinement {
  /** The wrapper's own arguments. Empty: the command is started as it is. */
  readonly prefix: readonly string[];
  /**
   * True for a PID namespace: no process in it can leave it, sees others or outlives the wrapper. The
   * wrapper has one child, the namespace's first process. Both report to descriptor 3.
   */
  readonly namespace: boolean;
}

const none: Confinement = { prefix: [], namespace: false };

/** How a command is confined on this machine. `undefined` if a namespace is required and there is none. */
export async function confinementFor(mode: PidNamespace): Promise<Confinement | undefined> {
  if (mode === "off") return none;
  const confinement = await probedOnce();
  if (confinement.namespace) return confinement;
  if (mode === "require") return undefined;
  warnOnce(confinement);
  return confinement;
}

/**
 * True if this machine lets us start a process in a PID namespace of its own. Needs Linux, util-linux,
 * and either root or user namespaces for all.
 */
export async function hasPidNamespaces(): Promise<boolean> {
  return (await probedOnce()).namespace;
}

let probed: Promise<Confinement> | undefined;

function probedOnce(): Promise<Confinement> {
  probed ??= probe();
  return probed;
}

/** The programs that the wrapper is made of, by their full paths: a command may have another `PATH`. */
interface Programs {
  readonly sh: string;
  readonly setpriv: string;
  readonly unshare: string;
}

/**
 * Has root give up capabilities. With the first, root could unmount its own `/proc` and find ours below;
 * with the others (the last is `perfmon`) it could read the environment of every process it finds.
 */
const dropped = ["--ambient-caps=-all", "--inh-caps=-all"].concat(
  "--bounding-set=-sys_admin,-sys_ptrace,-cap_38",
);

async function probe(): Promise<Confinement> {
  if (process.platform !== "linux") return none;
  const [sh, setpriv, unshare] = ["sh", "setpriv", "unshare"].map(fileOf);
  if (sh === undefined || setpriv === undefined) return none;
  const drop = [setpriv, ...dropped, "--"];
  if (unshare !== undefined) {
    // Prefer no user namespace: inside one, other users' files belong to the overflow user. A process of
    // another user than root has nothing to give up there, and can't get outside of it.
    const user = ["--user", "--map-current-user"];
    for (const [flags, inner] of [
      [[], drop],
      [user, drop],
      [user, []],
    ] as const) {
      const prefix = namespacePrefix({ sh, setpriv, unshare }, flags, inner);
      if (await hidesUs(prefix, sh)) return { prefix, namespace: true };
    }
  }
  // Without a namespace root can still give up the right to read the environment of other processes: the
  // kernel refuses it to a process that has fewer capabilities than the one it looks at.
  return (await hidesUs(drop, sh)) ? { prefix: drop, namespace: false } : none;
}

/** From here on descriptor 2 is where the wrapper reports, and 4 is the command's standard error. */
const splitErrors = 'exec 4>&2 2>&3 3>&-; exec "$@"';

/**
 * The first process of a namespace. When it ends, the kernel ends all others in it. It is a shell and not
 * the command itself, because the first process ignores signals that it doesn't handle, and has to reap
 * orphans. It reports a signal that ends the command. It adds three variables to the environment, which
 * are taken away again.
 */
const first = 'unset PWD OLDPWD SHLVL; (exec "$@" 2>&4 4>&-); exit $?';

/**
 * `setpriv` has the kernel kill `unshare` when we die, and `--kill-child` carries that on to the
 * namespace. Our thread counts: started in a worker thread, it dies with that.
 */
function namespacePrefix(
  { sh, setpriv, unshare }: Programs,
  flags: readonly string[],
  inner: readonly string[],
): readonly string[] {
  const wrapper = [setpriv, "--pdeathsig", "KILL", "--", sh, "-c", splitErrors, "sh"];
  const namespace = [unshare, "--pid", "--fork", "--kill-child", "--mount-proc", ...flags, "--"];
  return [...wrapper, ...namespace, ...inner, sh, "-c", first, "sh"];
}

function fileOf(name: string): string | undefined {
  return findProgram(name, { path: process.env["PATH"] }).file;
}

/** How long a machine may take to start one process. */
const probeMs = 10_000;

/** True if a command starts by this prefix and can't read the environment of this process. */
function hidesUs([file = "", ...rest]: readonly string[], sh: string): Promise<boolean> {
  const script = `if ( : </proc/${process.pid}/environ ) 2>/dev/null; then exit 1; fi`;
  const child = spawn(file, [...rest, sh, "-c", script], {
    // The fourth is where the wrapper reports.
    stdio: ["ignore", "ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"] },
    timeout: probeMs,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

let warned = false;

function warnOnce({ prefix }: Confinement): void {
  if (warned) return;
  warned = true;
  const reach =
    prefix.length > 0
      ? "A process that leaves its session and clears its environment can outlive its call."
      : "They can read this process's environment, so load keys from a file (process.loadEnvFile) and not from the environment. One that leaves its session and clears its environment can outlive its call.";
  warn(
    "MILLRACE_NO_PID_NAMESPACE",
    `Processes of tools and MCP servers run without a PID namespace, because this machine gives none. ${reach}`,
    'Linux: install util-linux (unshare, setpriv), and run as root with CAP_SYS_ADMIN or allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0; in a container: seccomp and AppArmor profiles that permit unshare). pidNamespace: "require" refuses to start a process instead, "off" accepts this without the warning.',
  );
}
