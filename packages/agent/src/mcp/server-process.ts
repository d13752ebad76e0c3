import type { ChildProcessByStdio } from "node:child_process";
import { randomUUID } from "node:crypto";
import process from "node:process";
import type { Readable, Writable } from "node:stream";

import { parseJSONRPCMessage, serializeMessage } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { redact } from "@millrace/core/secrets";
import { parseJsonText } from "@millrace/core/wire";

import { confinementFor } from "../process/confinement.ts";
import type { PidNamespace } from "../process/confinement.ts";
import { endTree } from "../process/end-tree.ts";
import { createMark, environmentOf, executionVariable } from "../process/environment.ts";
import type { Environment } from "../process/environment.ts";
import type { ProcessEnding } from "../process/process-outcome.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { startChild } from "../process/start-child.ts";
import { startWatchdog } from "../process/watchdog.ts";
import { within } from "../process/within.ts";
import { LineBuffer } from "./line-buffer.ts";
import { oneLine } from "./visible-text.ts";

export interface ServerProcessOptions {
  readonly command: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Environment;
  readonly pidNamespace: PidNamespace;
  /** Bytes of one line. A server that sends a longer one is ended. */
  readonly limitBytes: number;
}

/** How long a server may take to end by itself once its input is closed, as the protocol asks. */
const politeMs = 500;
/** How long it may take after `SIGTERM`. */
const graceMs = 2_000;
/** How much of its standard error is kept, to be reported if it doesn't start. */
const keptErrors = 4_096;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * A server that runs as our child and speaks line by line. The official client has such a transport
 * as well; this one is here because that one starts the child in our own process group, ends only
 * the child and not what it started, and reads keys as the engine does. The process is started
 * without a shell, in a session and a PID namespace of its own, with a small part of our environment.
 */
export class ServerProcess implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];

  readonly #options: ServerProcessOptions;
  #child: Child | undefined;
  #end: (() => Promise<void>) | undefined;
  #ended: Promise<void> | undefined;
  /** Settles when the process is gone and its pipes are read. */
  #drained: Promise<void> | undefined;
  #errors = "";
  #exit: string | undefined;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  /** How the process ended. Undefined while it runs, or if it was never started. */
  get exit(): string | undefined {
    return this.#exit;
  }

  /** The end of the process's standard error, on one line. */
  get lastWords(): string {
    return oneLine(redact(this.#errors).slice(-500), 500);
  }

  async start(): Promise<void> {
    const { command, cwd, env, pidNamespace } = this.#options;
    const confinement = await confinementFor(pidNamespace);
    if (confinement === undefined) throw new Error("this machine gives us no PID namespace");
    const own = randomUUID();
    const mark = createMark(own, own, process.env[executionVariable]);
    const started = startChild(command, {
      confinement,
      cwd,
      env: environmentOf(process.env, env, mark),
      input: undefined,
      keepsInput: true,
    });
    if (!started.started) {
      const error = new Error(`spawn ${command[0]}: ${(await started.cause).message}`);
      this.onerror?.(error);
      throw error;
    }
    // Started with three pipes.
    const child = started.child as Child;
    const { pid } = started;
    const exited = this.#noteExit(started.ending);
    const drained = new Promise<void>((resolve) => child.once("close", () => resolve()));
    this.#drained = drained;
    const tree = new ProcessTree({ root: pid, matches: mark.matches });
    const stopWatchdog = confinement.namespace ? undefined : startWatchdog(pid);
    this.#end = async () => {
      if (this.#exit === undefined) {
        child.stdin.end();
        await within(politeMs, exited);
      }
      await endTree(tree, { graceMs, wrapper: confinement.namespace ? pid : undefined });
      await within(250, exited);
      await stopWatchdog?.();
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
    };
    // Its last lines may still be on their way when it is gone already.
    void exited.then(() => within(250, drained)).then(() => this.#over());
    this.#listen(child);
    await new Promise<void>((resolve) => child.once("spawn", resolve));
    this.#child = child;
  }

  async #noteExit(ending: Promise<ProcessEnding>): Promise<void> {
    this.#exit ??= exitOf(await ending);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#write(serializeMessage(message));
    } catch (error) {
      // The pipe breaks before the exit is known; the exit explains more than the broken pipe.
      if (this.#drained !== undefined) await within(250, this.#drained);
      throw error;
    }
  }

  #write(text: string): Promise<void> {
    const input = this.#child?.stdin;
    return new Promise((resolve, reject) => {
      if (input === undefined || this.#ended !== undefined) {
        reject(new Error("the server's process is not running"));
      } else {
        // Called once the machine took it, so a server that doesn't read holds up its own calls only.
        input.write(text, (error) => (error ? reject(error) : resolve()));
      }
    });
  }

  /** Ends the process and whatever it started. Takes at most 5 s. */
  async close(): Promise<void> {
    await this.#over();
  }

  #over(): Promise<void> {
    this.#ended ??= (async () => {
      // First, because calls wait for it, and ending may take seconds.
      this.onclose?.();
      await this.#end?.();
    })();
    return this.#ended;
  }

  #listen(child: Child): void {
    const lines = new LineBuffer(this.#options.limitBytes);
    child.stdout.on("data", (bytes: Buffer) => {
      if (this.#ended !== undefined) return;
      for (const line of lines.push(bytes)) this.#read(line);
      if (!lines.isFull) return;
      this.#exit = `was ended, because it sent more than ${this.#options.limitBytes} bytes in one line`;
      void this.#over();
    });
    child.stderr.on("data", (bytes: Buffer) => {
      this.#errors = (this.#errors + bytes.toString("utf8")).slice(-keptErrors);
    });
    for (const pipe of [child.stdin, child.stdout, child.stderr]) {
      pipe.on("error", (error) => this.onerror?.(error));
    }
  }

  /** Takes one line. What is no message is passed over: many servers log where they should not. */
  #read(line: string): void {
    try {
      this.onmessage?.(parseJSONRPCMessage(parseJsonText(line)));
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function exitOf(ending: ProcessEnding): string {
  if (ending.ended === "exited") return `exited with code ${ending.code}`;
  if (ending.ended === "signalled") return `was ended by ${ending.signal}`;
  return ending.ended === "failed_to_start"
    ? `did not start: ${ending.cause.message}`
    : ending.ended;
}
