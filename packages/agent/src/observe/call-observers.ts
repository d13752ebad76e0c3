import type { RunEvent } from "@millrace/core";
import { holdsBytes, withOwnBytes, withoutHandles } from "./inert.ts";
import type { Observer } from "../definition/observer.ts";

/**
 * Calls each observer with the event: in the order of registration, synchronously, all of them. One
 * that throws, or whose promise is rejected, is told of to `onError` and stops nobody; what `onError`
 * throws is dropped. What an observer does to the event reaches neither the next one nor the session:
 * see `withoutHandles`. The event itself is frozen if it is a delta, so hand over a fresh object.
 */
export function callObservers(
  observers: readonly Observer[],
  event: RunEvent,
  onError: (error: unknown) => void = ignore,
): void {
  if (observers.length === 0) return;
  const inert = withoutHandles(event);
  const shared = !holdsBytes(inert);
  for (const observe of observers) {
    try {
      // An async function fits the type of an observer; its rejection would end the process.
      const returned: unknown = observe(shared ? inert : withOwnBytes(inert));
      if (returned instanceof Promise) returned.catch((error: unknown) => report(onError, error));
    } catch (error) {
      report(onError, error);
    }
  }
}

function ignore(): void {}

function report(onError: (error: unknown) => void, error: unknown): void {
  try {
    onError(error);
  } catch {
    // Whoever reports has nobody left to report to.
  }
}
