import { flushCompileCache } from "node:module";
import type { NodeMessage } from "./node-process.ts";

/** Sends a message to the test that started this process. */
export function report(message: NodeMessage): void {
  process.send?.(message);
}

/** Reports that this process has started. Keeps its compiled code for the next start: it may be killed. */
export function reportReady(): void {
  report({ type: "ready" });
  flushCompileCache();
}

/** Reports rejections and exceptions that no code handles, and goes on; ends with the test's process. */
export function reportStrayErrors(): void {
  const stray =
    (sort: string) =>
    (error: unknown): void => {
      const text = error instanceof Error ? `${error.stack}` : String(error);
      report({ type: "stray", error: `${sort}: ${text}` });
    };
  process.on("unhandledRejection", stray("unhandled rejection"));
  process.on("uncaughtException", stray("uncaught exception"));
  process.on("disconnect", () => process.exit(0));
}
