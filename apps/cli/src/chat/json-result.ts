import type { RunResult } from "@millrace/agent";

/** Controls and line ends that JSON leaves as they are. In a string an escape means the same. */
const unescaped = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * The result of a run as one line of JSON: `session`, `model`, `outcome`, `text` and `usage`, and for one
 * that did not complete its `limit` or its `cause`. The model of a server is not known here.
 */
export function jsonResult(
  result: RunResult,
  { session, model }: { readonly session: string; readonly model?: string },
): string {
  const { outcome, text, usage } = result;
  const line = { session, model, outcome, text, usage, ...endOf(result) };
  return JSON.stringify(line).replaceAll(
    unescaped,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function endOf(result: RunResult): object {
  switch (result.outcome) {
    case "limited":
      return { limit: result.limit };
    case "failed": {
      // A run that never began has an error of ours and no cause.
      const { code, message } = result.cause ?? result.error;
      return { cause: { code, message } };
    }
    case "completed":
    case "aborted":
      return {};
    default:
      result satisfies never;
      return {};
  }
}
