import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The programs of the nodes, each in one file: a node is started often and would spend that on loading. */
export interface NodePrograms extends AsyncDisposable {
  readonly worker: string;
  readonly web: string;
  /** The file of the workflows, for nodes of Temporal. */
  readonly workflows?: string | undefined;
}

/**
 * Bundles the programs into a temporary folder, once for all deployments of a test. `workerProgram` and
 * `webProgram` take the place of those that deployments have.
 */
export async function bundleNodes(
  workerProgram: URL = new URL("./worker-node.ts", import.meta.url),
  webProgram: URL = new URL("./web-node.ts", import.meta.url),
): Promise<NodePrograms> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-nodes-"));
  const [worker, web] = await Promise.all([
    bundleProgram(workerProgram, join(folder, "worker.mjs")),
    bundleProgram(webProgram, join(folder, "web.mjs")),
  ]);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { worker, web, [Symbol.asyncDispose]: remove };
}

/**
 * Bundles one program into a file, and resolves to the file's path. Temporal's packages have native code
 * and stay outside.
 */
export async function bundleProgram(program: URL, file: string): Promise<string> {
  const bundled = await rolldown({
    input: fileURLToPath(program),
    platform: "node",
    external: ["pg-native", "pg-cloudflare", /^@temporalio\//],
    resolve: { conditionNames: ["@millrace/source", "node"] },
    logLevel: "silent",
  });
  await bundled.write({ file, format: "esm", codeSplitting: false });
  await bundled.close();
  return file;
}
