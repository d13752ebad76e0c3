import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

import { expect, test } from "vitest";

import { findProgram } from "./find-program.ts";
import { hasPidNamespaces, runProcess } from "./index.ts";
import { isHiddenFrom, runAs, testUsers } from "./testing/as-user.ts";
import { living } from "./testing/living.ts";

const timeout = 60_000;
const key = "sk-hunter-2";

/** Ways to the environment of the process that started the tool. */
const script = [
  "env",
  "cat /proc/$PPID/environ",
  'for pid in /proc/[0-9]*; do cat "$pid/environ"; done',
  // Below its own `/proc` lies ours.
  "umount /proc; cat /proc/[0-9]*/environ",
  "unshare --user --map-root-user --mount sh -c 'umount -l /proc; cat /proc/[0-9]*/environ'",
].join("; ");

test.for(testUsers)(
  "a process of user %s can't read the environment of the process that started it",
  { timeout },
  async (user) => {
    const { printed } = await runAs(user, "reach.ts", [`(${script}) 2>/dev/null`], { KEY: key });

    expect(printed).toContain("PATH=");
    expect(printed.includes(key)).toBe(!(await isHiddenFrom(user)));
  },
);

test(
  "what leaves its session and clears its environment ends with its call",
  { timeout },
  async () => {
    const token = `60.33${process.pid}1`;
    const script = `env -i setsid /bin/sh -c 'sleep ${token}; sleep ${token}' & exit 0`;
    let left = 0;

    for (let round = 0; round < 5; round += 1) {
      await runProcess(["sh", "-c", script], { signal: new AbortController().signal });
      const alive = living(token).filter(({ zombie }) => !zombie);
      left += alive.length;
      for (const { pid } of alive) process.kill(pid, "SIGKILL");
    }

    // Without a namespace this is what the warning is about.
    expect((await hasPidNamespaces()) ? left : 0).toBe(0);
  },
);

test(
  "the grace of a stop is given to all processes of a program, not only to the first",
  { timeout },
  async () => {
    const child =
      "trap 'sleep 0.3; echo cleaned up; exit 0' TERM; echo ready; while :; do sleep 0.02; done";
    const stopper = new AbortController();

    const outcome = await runProcess(["sh", "-c", `sh -c "${child}" & wait`], {
      onOutput: () => stopper.abort(),
      graceMs: 20_000,
      signal: stopper.signal,
    });

    expect(outcome).toMatchObject({ ended: "aborted", stdout: { head: "ready\ncleaned up\n" } });
  },
);

test.for([
  ["setpriv, which root can use without a namespace", ["sh", "cat", "setpriv"], false],
  ["neither program", ["sh", "cat"], true],
] as const)(
  "a machine with %s warns once, and names what to do",
  { timeout },
  async ([, names, inReach]) => {
    if (process.getuid?.() !== 0) return;
    const folder = mkdtempSync(join(tmpdir(), "millrace-path-"));
    for (const name of names) {
      symlinkSync(findProgram(name, { path: undefined }).file ?? "", join(folder, name));
    }

    const environment = { KEY: key, PATH: folder };
    const { printed, errors } = await runAs(
      "own",
      "reach.ts",
      ["cat /proc/$PPID/environ"],
      environment,
    );

    expect(printed.includes(key)).toBe(inReach);
    expect(errors.match(/MILLRACE_NO_PID_NAMESPACE/g)).toHaveLength(1);
    expect(errors).toContain("install util-linux");
  },
);
