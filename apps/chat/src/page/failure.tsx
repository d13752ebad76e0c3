import { visibleText } from "@millrace/client/parts";
import type { ReactNode } from "react";
import { CopyButton } from "./code-block.tsx";
import type { Session } from "./client.ts";

interface FailureProps {
  readonly error: NonNullable<Session["error"]>;
  /** Of the session. */
  readonly id: string;
  readonly onRetry: (() => void) | undefined;
}

/** Why a run failed, what to do, and what to tell those who look into it. */
export function Failure({ error, id, onRetry }: FailureProps): ReactNode {
  return (
    <div className="failure" role="alert">
      <p>
        <strong>The run failed.</strong> <bdi>{visibleText(error.message)}</bdi>
      </p>
      <div className="row">
        {onRetry && (
          <button className="btn" onClick={onRetry}>
            Try again
          </button>
        )}
        <code>{visibleText(error.code)}</code>
        <CopyButton text={`${error.code} in session ${id}`} />
      </div>
    </div>
  );
}
