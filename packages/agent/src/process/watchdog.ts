import { spawn } from "node:child_process";

/** Waits for a line. End of input without one means that this process died, so the group is killed. */
const script = 'read -r line || kill -s KILL -- "-$1"';

/**
 * Starts a small shell that kills the process group if this process dies, `kill -9` included. It
 * holds one end of a pipe of which only this process has the other. A process that left the group is
 * not reached: `endExecution` ends it later. Without `/bin/sh` there is no watchdog, and nothing else
 * changes. Returns the function that ends it; to be called as soon as the group is gone, because its
 * number may then return.
 */
export function startWatchdog(group: number): () => Promise<void> {
  const shell = spawn("/bin/sh", ["-c", script, "millrace-watchdog", String(group)], {
    stdio: ["pipe", "ignore", "ignore"],
    // A terminal's interrupt goes to our whole group, and must not end it before us.
    detached: true,
    cwd: "/",
    env: {},
  });
  const gone = new Promise<void>((resolve) => {
    shell.once("exit", () => resolve());
    shell.once("error", () => resolve());
  });
  // Our end is broken when the shell is gone, which is what we want.
  shell.stdin.on("error", () => undefined);
  return async () => {
    shell.kill("SIGKILL");
    await gone;
  };
}
