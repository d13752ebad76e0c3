import type { ChildProcess } from "node:child_process";

import { OutputKeeper } from "./kept-output.ts";
import type { KeptOutput } from "./kept-output.ts";
import { within } from "./within.ts";

/** A piece of output as it came, cut anywhere but inside a character. */
export interface OutputPiece {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/** How long the pipes may be silent after all are gone before we stop listening. */
const quietRounds = 4;
const roundMs = 25;
const maxRounds = 20;

/** Reads both outputs of a process, hands them on and keeps what the cap allows. */
export class ProcessOutput {
  readonly #keepers: Readonly<Record<OutputPiece["stream"], OutputKeeper>>;
  readonly #onPiece: (piece: OutputPiece) => void;
  #count = 0;

  constructor(limitBytes: number, onPiece: (piece: OutputPiece) => void) {
    this.#keepers = { stdout: new OutputKeeper(limitBytes), stderr: new OutputKeeper(limitBytes) };
    this.#onPiece = onPiece;
  }

  /**
   * Listens from now on. The function that it returns ends that: it waits for the ends of the pipes,
   * but not for somebody who holds them and says nothing.
   */
  listen(child: ChildProcess): () => Promise<void> {
    const closed = Promise.all([this.#read(child, "stdout"), this.#read(child, "stderr")]);
    return async () => {
      // Rounds instead of one wait: if this process itself was held up, there is still output to read.
      let quiet = 0;
      for (let round = 0; round < maxRounds && quiet < quietRounds; round += 1) {
        const before = this.#count;
        if (await within(roundMs, closed)) break;
        quiet = this.#count === before ? quiet + 1 : 0;
      }
      child.stdout?.destroy();
      child.stderr?.destroy();
      this.#finish("stdout");
      this.#finish("stderr");
    };
  }

  kept(): { readonly stdout: KeptOutput; readonly stderr: KeptOutput } {
    return { stdout: this.#keepers.stdout.kept(), stderr: this.#keepers.stderr.kept() };
  }

  #read(child: ChildProcess, stream: OutputPiece["stream"]): Promise<void> {
    return new Promise((resolve) => {
      const pipe = child[stream];
      pipe?.on("data", (bytes: Uint8Array) => {
        this.#count += bytes.length;
        this.#say(stream, this.#keepers[stream].write(bytes));
      });
      pipe?.on("error", () => undefined);
      pipe?.once("close", resolve);
    });
  }

  #finish(stream: OutputPiece["stream"]): void {
    this.#say(stream, this.#keepers[stream].end());
  }

  #say(stream: OutputPiece["stream"], text: string): void {
    if (text !== "") this.#onPiece({ stream, text });
  }
}
