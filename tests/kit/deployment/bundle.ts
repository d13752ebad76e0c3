import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The programs of the nodes, each in one file: a node is started often and would spend that on loading. */
export interface NodePrograms extends AsyncDisposable {
  readonly worker: string;
  readonly web: string;
}

/** Bundles the programs into a temporary folder, once for all deployments of a test. */
export async function bundleNodes(): Promise<NodePrograms> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-nodes-"));
  const [worker, web] = await Promise.all([
    bundle("./worker-node.ts", join(folder, "worker.mjs")),
    bundle("./web-node.ts", join(folder, "web.mjs")),
  ]);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { worker, web, [Symbol.asyncDispose]: remove };
}

async function bundle(program: string, file: string): Promise<string> {
  const bundled = await rolldown({
    input: fileURLToPath(new URL(program, import.meta.url)),
    platform: "node",
    external: ["pg-native", "pg-cloudflare"],
    resolve: { conditionNames: ["@millrace/source", "node"] },
    logLevel: "silent",
  });
  await bundled.write({ file, format: "esm", codeSplitting: false });
  await bundled.close();
  return file;
}
