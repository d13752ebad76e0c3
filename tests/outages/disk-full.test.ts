/** Sessions in files on a disk that is full, until there is room again. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseJsonText } from "@millrace/core/wire";
import { beforeAll, expect, test } from "vitest";
import type { FullDisk } from "./disk-full-run.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("disk-full-run.ts", import.meta.url));
const node = [process.execPath, "--conditions=@millrace/source", "--no-warnings", program];

/** Runs a shell command with a folder as "$1". Rejects where the system does not let it. */
async function shell(folder: string, script: string, ...rest: readonly string[]): Promise<string> {
  const { stdout } = await run("unshare", ["-Urm", "sh", "-c", script, "sh", folder, ...rest]);
  return stdout;
}

let left: FullDisk;
/** False where no disk can be mounted: then the size of files is limited, and there is never room again. */
let isDisk = true;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-full-"));
  const mount = 'mount -t tmpfs -o size=400k,mode=700 none "$1"';
  try {
    isDisk = await shell(folder, mount).then(
      () => true,
      () => false,
    );
    const stdout = isDisk
      ? await shell(folder, `${mount} && folder=$1 && shift && exec "$@" "$folder"`, ...node)
      : (await run("sh", ["-c", 'ulimit -f 256; exec "$@"', "sh", ...node, folder])).stdout;
    left = parseJsonText(stdout) as FullDisk; // our own program printed it
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 90_000);

test("on a full disk a run under way fails for its caller, and sends are refused with what to do", () => {
  const code = isDisk ? "ENOSPC" : "EFBIG";
  expect(left.outcomes).toEqual(["completed", "failed broken_port", "refused broken_port"]);
  expect(left.messages).toHaveLength(2);
  for (const message of left.messages)
    expect(message).toMatch(new RegExp(`${code}.*: (free|raise)`));
  expect(left.slowestMs).toBeLessThan(10_000);
  expect(left.narrated).toBe("run_finished failed");
  expect(left.connections[0]).toBe("waiting");
});

test("when there is room again the session goes on, with what was accepted and without half a line", () => {
  expect(left).toMatchObject({ verified: true, dense: true, lost: 0 });
  if (isDisk)
    expect(left).toMatchObject({ statusLater: "idle", later: "completed", unfinished: 0 });
});
