import type { Cause } from "../content/item.ts";
import type { Usage } from "../content/usage.ts";
import type { MillraceError } from "../errors.ts";
import type { InputId } from "../ids.ts";

// What a program sends to a session and what comes of it, in process and over HTTP.

/** Text, or text and files in order. */
export type Content = string | readonly (string | BlobLike)[];

/** A file, a blob, or bytes with their type. By structure, so that no DOM types are needed. */
export interface BlobLike {
  readonly type: string;
  readonly size: number;
  /** The name of a file. With it the content is sent as a file. */
  readonly name?: string | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** An input or a decision that was sent to a session. They are stored in the order in which they are sent. */
export interface Sent {
  /**
   * Settles once it is stored or refused. Never rejects. While the store or the server is away it waits,
   * until the session is closed or, for a prompt, its signal is aborted.
   */
  readonly accepted: Promise<Acceptance>;
}

/** An input that was sent, with its id in the queue. */
export interface SentInput extends Sent {
  readonly id: InputId;
}

/** Whether something that was sent is stored, or why it is not. */
export type Acceptance =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly error: MillraceError };

interface Ended {
  /** The text of the run's last item with text, complete or not. */
  readonly text: string;
  /** The usage of all its attempts, sub-agents included. */
  readonly usage: Usage;
}

/**
 * How a run ended, as data: failures of models, tools and stores are outcomes here and are not thrown.
 * Look at `outcome` before `text`: after a failure `text` is what came until then, and may be empty.
 * `output` is on completed results only, so reading it without a look at `outcome` does not compile.
 * `run.text()` and `run.textStream()` throw instead. If a run failed and the program that sent it reads
 * none of `outcome`, `error` and `cause`, the process gets one warning, `MILLRACE_RUN_FAILED`; the
 * agent's setting `warnings: false` turns it off.
 */
export type RunResult<Output = string> =
  | (Ended & { readonly outcome: "completed"; readonly output: Output })
  | (Ended & {
      readonly outcome: "aborted";
      /** Why it was stopped, as its stopper or its signal gave it: a time-out, for instance. */
      readonly reason?: string;
    })
  | (Ended & { readonly outcome: "limited"; readonly limit: string })
  | (Ended & {
      readonly outcome: "failed";
      readonly error: MillraceError;
      /** The code and message of the failure, such as a vendor's. Left out if the run never began. */
      readonly cause?: Cause;
    });
