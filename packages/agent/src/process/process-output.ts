import type { ChildProcess } from "node:child_process";

import { OutputBuffer } from "./output-buffer.ts";
import type { CapturedOutput } from "./output-buffer.ts";
import { within } from "./within.ts";

/** A piece of output as it came, cut anywhere but inside a character. */
export interface OutputPiece {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/** How long the pipes may stay silent, once all processes are gone, before reading stops. */
const quietRounds = 4;
const roundMs = 25;
const maxRounds = 20;

/** Reads both outputs of a process, hands them on and keeps what the cap allows. */
export class ProcessOutput {
  readonly #keepers: Readonly<Record<OutputPiece["stream"], OutputBuffer>>;
  readonly #onPiece: (piece: OutputPiece) => void;
  #count = 0;

  constructor(limitBytes: number, onPiece: (piece: OutputPiece) => void) {
    this.#keepers = { stdout: new OutputBuffer(limitBytes), stderr: new OutputBuffer(limitBytes) };
    this.#onPiece = onPiece;
  }

  /**
   * Reads from now on. The returned function ends the reading: it waits for the pipes to close, but
   * not for a process that keeps them open without writing.
   */
  read(child: ChildProcess): () => Promise<void> {
    const closed = Promise.all([this.#readPipe(child, "stdout"), this.#readPipe(child, "stderr")]);
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

  kept(): { readonly stdout: CapturedOutput; readonly stderr: CapturedOutput } {
    return { stdout: this.#keepers.stdout.kept(), stderr: this.#keepers.stderr.kept() };
  }

  #readPipe(child: ChildProcess, stream: OutputPiece["stream"]): Promise<void> {
    return new Promise((resolve) => {
      const pipe = child[stream];
      pipe?.on("data", (bytes: Uint8Array) => {
        this.#count += bytes.length;
        this.#emit(stream, this.#keepers[stream].write(bytes));
      });
      pipe?.on("error", () => undefined);
      pipe?.once("close", resolve);
    });
  }

  #finish(stream: OutputPiece["stream"]): void {
    this.#emit(stream, this.#keepers[stream].end());
  }

  #emit(stream: OutputPiece["stream"], text: string): void {
    if (text !== "") this.#onPiece({ stream, text });
  }
}
