import type { CallToolRequestOptions, Client, Progress } from "@modelcontextprotocol/client";

import { redact, redactedMessage, redactError } from "@millrace/core/secrets";
import { checkJson, isJsonObject } from "@millrace/core/wire";

import type { ToolExecution } from "../definition/tool.ts";
import { resultText } from "./result-text.ts";
import { cappedText, oneLine, visibleText } from "./visible-text.ts";

/** How a connection is seen by the tools that it gave. */
export interface CallTarget {
  /** The server's name, as we call it. */
  readonly server: string;
  readonly client: Client;
  /** Why no call can reach the server any more. Undefined while one can. */
  readonly gone: () => string | undefined;
}

export interface CallOptions {
  /** The server's own name for the tool. */
  readonly tool: string;
  readonly definition: NonNullable<CallToolRequestOptions["toolDefinition"]>;
  /** True if the server promised an answer of a certain shape. */
  readonly isStructured: boolean;
  readonly callTimeoutMs: number;
}

/** UTF-8 bytes kept of a server's error message. */
const errorBytes = 16_384;
const progressBytes = 300;

/**
 * Calls a tool and returns what it answered: structured content if there is some, with the text
 * appended before, else the text. Throws an Error that a model can read for all else: the server's
 * own message if the tool failed. An abort is passed on to the server, which may ignore it.
 */
export async function callTool(
  target: CallTarget,
  options: CallOptions,
  input: Readonly<Record<string, unknown>>,
  execution: ToolExecution,
): Promise<unknown> {
  const { tool, isStructured } = options;
  const gone = target.gone();
  if (gone !== undefined) throw new Error(gone);
  const answer = await ask(target, options, input, execution);

  const content: readonly unknown[] = Array.isArray(answer["content"]) ? answer["content"] : [];
  const text = resultText(content);
  if (answer["isError"] === true) {
    const shown = cappedText(redact(text.trim()), errorBytes);
    throw new Error(shown === "" ? `${tool} failed, and the server gave no reason` : shown);
  }
  const structured = answer["structuredContent"];
  if (structured === undefined) {
    if (!isStructured) return text;
    throw new Error(`${tool} promised structured content, and the server sent none`);
  }
  const fault = checkJson(structured);
  if (fault !== undefined) {
    throw new Error(`the structured content of ${tool} is ${fault.code.replaceAll("_", " ")}`);
  }
  if (text !== "") execution.append(text);
  return structured;
}

async function ask(
  target: CallTarget,
  options: CallOptions,
  input: Readonly<Record<string, unknown>>,
  execution: ToolExecution,
): Promise<Readonly<Record<string, unknown>>> {
  const { tool, definition, callTimeoutMs } = options;
  const { signal, progress } = execution;
  try {
    return await target.client.callTool(
      { name: tool, arguments: { ...input } },
      {
        signal,
        // `runTool` enforces the limit with a better message; this one is for callers without it.
        timeout: Math.min(callTimeoutMs + 500, 2 ** 31 - 1),
        onprogress: (update) => progress({ message: progressText(update) }),
        // As the server listed it when the connection was opened, whatever it lists by now.
        toolDefinition: definition,
      },
    );
  } catch (error) {
    if (signal.aborted) throw failed(`${tool} was aborted, and the server was notified`, error);
    throw failed(explain(target, options, error), error);
  }
}

/** The error of a call. Its cause holds no secret. */
function failed(message: string, error: unknown): Error {
  return new Error(message, { cause: redactError(error) });
}

function explain(target: CallTarget, { tool, callTimeoutMs }: CallOptions, error: unknown): string {
  const gone = target.gone();
  if (gone !== undefined) return gone;
  const code = isJsonObject(error) ? error["code"] : undefined;
  if (code === "REQUEST_TIMEOUT") return `${tool} took longer than ${callTimeoutMs / 1_000} s`;
  const message = redactedMessage(error).slice(0, 65_536);
  return `${tool} could not be called: ${cappedText(visibleText(message), errorBytes)}`;
}

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress} of ${total}`;
  const shown = typeof message === "string" ? oneLine(message, progressBytes) : "";
  return shown === "" ? count : `${count}: ${shown}`;
}
