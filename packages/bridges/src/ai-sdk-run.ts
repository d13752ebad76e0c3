import { abortedCause } from "@millrace/core/model";
import type { Cause, Transcript } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import { cutEnding, prepare } from "@millrace/providers/protocol-kit";
import { AiSdkContent } from "./ai-sdk-content.ts";
import { endingOf, finishOf, usageOf } from "./ai-sdk-finish.ts";
import { promptOf } from "./ai-sdk-prompt.ts";
import type { AiSdkMessage } from "./ai-sdk-prompt.ts";
import { CallIds } from "./call-ids.ts";
import { causeOf, cutBy, isAbort } from "./cause.ts";
import { fieldsOf, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";
import { RunWriter } from "./run-writer.ts";

/** The result of `streamText`. `fullStream` is the older name of the stream. */
export type AiSdkResult =
  | { readonly stream: AsyncIterable<{ readonly type: string }> }
  | { readonly fullStream: AsyncIterable<{ readonly type: string }> };

/**
 * Converts the run of an agent made with the AI SDK. Each of its steps becomes one item: the
 * model's text, its calls, and the results of their tools. Never throws: a failed run ends its last
 * item with the failure. To stop the run, abort the SDK's own `abortSignal`; leaving this loop does
 * not stop it.
 */
export async function* fromAiSdk(result: AiSdkResult): AsyncGenerator<Update, void, undefined> {
  const run = new AiSdkRun();
  try {
    for await (const part of "stream" in result ? result.stream : result.fullStream) {
      run.take(fieldsOf(part));
      yield* run.writer.take();
    }
    run.end();
  } catch (error) {
    run.fail(error);
  }
  yield* run.writer.take();
}

/**
 * Converts a transcript to messages for `streamText`, whichever model wrote its items. Signed
 * reasoning goes back to a provider only if it arrived through this bridge.
 */
export function toAiSdk(transcript: Transcript): AiSdkMessage[] {
  const ours = transcript.map((item) =>
    item.model?.startsWith("ai-sdk/") === true ? { ...item, model: "ai-sdk" } : item,
  );
  return promptOf(prepare({ transcript: ours }, "ai-sdk", { keeps: () => true }), {
    tagged: false,
    takesUrl: () => true,
  });
}

class AiSdkRun {
  readonly writer = new RunWriter();
  readonly #callIds = new CallIds();
  #content: AiSdkContent | undefined;
  #error: Cause | undefined;
  #approvals: string[] = [];
  #isInStep = false;
  #isOver = false;

  take(part: Fields): void {
    switch (part["type"]) {
      case "start-step":
        if (this.#isInStep) this.#cut(cutEnding({ kind: "eof" }));
        this.#isInStep = true;
        this.#content ??= this.#begin();
        return;
      case "finish-step":
        this.#finishStep(part);
        return;
      case "error":
        this.#error ??= causeOf(part["error"], true);
        return;
      case "abort":
        this.#cut({ stop: "aborted", cause: abortedCause });
        this.#isOver = true;
        return;
      case "finish":
        // A step that failed before it began reports an error and never ends.
        if (this.#error !== undefined) this.#cut(cutBy(this.#error));
        this.#isOver = true;
        return;
      default:
        this.#note(part);
        // Results of tools that a person approved since the last run precede the first step.
        if (textOr(part["type"], "").startsWith("tool-")) this.#content ??= this.#begin();
        this.#content?.take(part);
    }
  }

  /** The stream has ended. Without a `finish` event the run was cut off. */
  end(): void {
    if (this.#error !== undefined) this.#cut(cutBy(this.#error));
    else if (!this.#isOver || this.#content !== undefined) this.#cut(cutEnding({ kind: "eof" }));
  }

  fail(error: unknown): void {
    if (isAbort(error)) this.#cut({ stop: "aborted", cause: abortedCause });
    else this.#cut(cutBy(this.#error ?? causeOf(error, this.#content !== undefined)));
  }

  #begin(): AiSdkContent {
    this.#approvals = [];
    return new AiSdkContent(this.writer.parts, this.#callIds, true);
  }

  #finishStep(part: Fields): void {
    const content = this.#content ?? this.#begin();
    const response = fieldsOf(part["response"]);
    const { headers: _, ...facts } = plainObject(response) ?? {};
    const waits = this.#approvals.length > 0 ? { approvals: this.#approvals } : {};
    const finish = finishOf(part, { ...facts, ...waits });
    const ending = endingOf(finish, content.calls, this.#error);
    if (ending.cause === undefined) {
      content.end(ending.stop === "length" || ending.stop === "filtered");
    }
    const isPaused = this.#approvals.length > 0 && ending.stop === "tools";
    this.writer.commit(isPaused ? { ...ending, stop: "paused" } : ending, {
      usage: usageOf(part["usage"]),
      model: `ai-sdk/${textOr(response["modelId"], "unknown")}`,
    });
    this.#content = undefined;
    this.#error = undefined;
    this.#isInStep = false;
  }

  /**
   * A call that waits for an approval is announced before its step ends. A call that was decided at
   * once does not wait.
   */
  #note(part: Fields): void {
    if (part["type"] !== "tool-approval-request" || part["isAutomatic"] === true) return;
    this.#approvals.push(textOr(part["approvalId"], "").toWellFormed());
  }

  #cut(ending: Parameters<RunWriter["commit"]>[0]): void {
    this.writer.commit(ending);
    this.#content = undefined;
    this.#error = undefined;
    this.#isInStep = false;
  }
}
