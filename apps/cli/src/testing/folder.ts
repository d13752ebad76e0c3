import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for one test, gone when it is over. */
export class TestFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(): Promise<TestFolder> {
    return new TestFolder(await mkdtemp(join(tmpdir(), "millrace-cli-")));
  }

  /** A module that a scripted model is loaded from; gives the option for it. */
  async script(source: string): Promise<string> {
    const file = join(this.path, "script.mjs");
    await writeFile(file, source);
    return `scripted:${file}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
