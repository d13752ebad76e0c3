import { visibleText } from "@millrace/client/parts";
import type { ReactNode } from "react";
import { CopyButton } from "./code-block.tsx";
import type { Session } from "./client.ts";
import { reportFailure } from "./notices.tsx";

interface FailureProps {
  readonly session: Session;
  readonly onRetry: (() => Promise<void>) | undefined;
}

/** Why a run failed or a session is not shown, what to do, and the details for a report. */
export function Failure({ session, onRetry }: FailureProps): ReactNode {
  const { error, lastRun, id } = session;
  if (error === undefined) return null;
  const isRun = lastRun?.outcome === "failed";
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{isRun ? "The run failed." : "This session is not shown."}</strong>{" "}
        <bdi>{visibleText(error.message)}</bdi>
      </p>
      <div className="row">
        {isRun && onRetry && (
          <button
            className="btn"
            onClick={() => void onRetry().catch(reportFailure("It was not tried again."))}
          >
            Try again
          </button>
        )}
        <code>{visibleText(error.code)}</code>
        <CopyButton text={`${error.code} in session ${id}`} />
      </div>
    </div>
  );
}
