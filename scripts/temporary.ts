import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder that is removed when its `using` scope ends. */
export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

/** Creates a temporary folder with the given files, from relative path to content. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "millrace-"));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
