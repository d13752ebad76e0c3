import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";

import { MillraceError } from "@millrace/core";
import { expect, test } from "vitest";

import { endExecution, executionPids, hasPidNamespaces, runProcess } from "./index.ts";
import { living, until } from "./testing/living.ts";

/** Real processes on a machine that may be busy. */
const timeout = 30_000;

test(
  "when we are killed, the process group ends with us, and the next one ends the rest",
  { timeout },
  async () => {
    const token = `60.27${process.pid}1`;
    const execution = `effect ${token}`;
    const script = `sleep ${token} & setsid sleep ${token} & echo ready; exec sleep ${token}`;

    await crash(execution, "group", ["sh", "-c", script]);

    // The watchdog ends the group; whoever called setsid is left.
    await until("the group has ended", () => alive(token).length === 1);
    expect(await executionPids(execution)).toEqual(alive(token));
    expect(await endExecution(execution)).toBe(1);
    expect(alive(token)).toEqual([]);
    expect(await executionPids(execution)).toEqual([]);
    expect(await endExecution(execution)).toBe(0);
  },
);

test(
  "ending an execution leaves others alone, also one whose key begins alike",
  { timeout },
  async () => {
    const token = `60.27${process.pid}2`;
    const stopper = new AbortController();
    const other = runProcess(["sleep", token], { execution: "key 10", signal: stopper.signal });
    await until("it runs", () => alive(token).length === 1);

    expect(await endExecution("key 1")).toBe(0);
    expect(await endExecution("key")).toBe(0);
    expect(alive(token)).toHaveLength(1);

    stopper.abort();
    expect((await other).ended).toBe("aborted");
  },
);

test("an execution without a name is never looked for", async () => {
  await expect(endExecution("")).rejects.toThrow(MillraceError);
});

test("in a PID namespace nobody outlives the outcome, whatever it does", { timeout }, async () => {
  const token = `60.27${process.pid}3`;
  const command = ["sh", "-c", `(env -i setsid /bin/sleep ${token} &); sleep 0.1; exit 7`];

  const outcome = await runProcess(command, { signal: never() });

  if (await hasPidNamespaces()) {
    expect(outcome).toMatchObject({ ended: "exited", code: 7, survivors: [] });
    expect(alive(token)).toEqual([]);
  } else {
    const refused = await runProcess(command, { pidNamespace: "require", signal: never() });
    expect(refused).toMatchObject({
      ended: "failed_to_start",
      cause: { code: "no_pid_namespace" },
    });
    endAll(token);
  }
  console.log(
    `count: PID namespaces, ${(await hasPidNamespaces()) ? "tested" : "not on this machine"}`,
  );
});

test(
  "in a PID namespace a process is asked before it is killed, and dies with us",
  { timeout },
  async () => {
    if (!(await hasPidNamespaces())) return;
    const token = `60.27${process.pid}4`;
    const polite = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done";

    const outcome = await runProcess(["sh", "-c", polite], {
      pidNamespace: "require",
      timeoutMs: 300,
      signal: never(),
    });
    await crash(`effect ${token}`, "namespace", [
      "sh",
      "-c",
      `setsid sleep ${token} & (env -i setsid /bin/sleep ${token} &); sleep 0.1; echo ready; exec sleep ${token}`,
    ]);

    expect(outcome).toMatchObject({ ended: "timed_out", stdout: { head: "ready\nbye\n" } });
    await until("all have ended", () => alive(token).length === 0);
  },
);

test("the outcome does not wait for pipes that an escaped process holds", { timeout }, async () => {
  // It leaves the session, loses its parent and clears its environment, all between two looks: that
  // it lives on is the limit that runProcess states, and why there are namespaces.
  const token = `60.27${process.pid}5`;
  const startedAt = performance.now();

  const outcome = await runProcess(
    ["sh", "-c", `(env -i setsid /bin/sleep ${token} &); sleep 0.2; echo said`],
    { pidNamespace: "off", signal: never() },
  );

  const tookMs = performance.now() - startedAt;
  const escaped = alive(token).length;
  endAll(token);
  expect(outcome).toMatchObject({ ended: "exited", code: 0, stdout: { head: "said\n" } });
  expect(tookMs).toBeLessThan(5_000);
  console.log(`count: escapes without a namespace, ${escaped} of 1, as stated`);
});

/** Runs a command in a Node process of its own, and kills that as soon as the command says something. */
async function crash(
  execution: string,
  isolation: string,
  command: readonly string[],
): Promise<void> {
  const program = join(import.meta.dirname, "testing/crash-run.ts");
  const flags = ["--conditions=@millrace/source", "--no-warnings"];
  const child = spawn(process.execPath, [...flags, program, execution, isolation, ...command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}

function alive(token: string): readonly number[] {
  // The wrapper of a namespace has the command among its own arguments.
  return living(`sleep\0${token}\0`)
    .filter(({ zombie, text }) => !zombie && /^(?:\/bin\/)?sleep\0/.test(text))
    .map(({ pid }) => pid);
}

function endAll(token: string): void {
  for (const pid of alive(token)) process.kill(pid, "SIGKILL");
}

function never(): AbortSignal {
  return new AbortController().signal;
}
