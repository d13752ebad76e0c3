import type { RunEvent } from "@millrace/core";
import { holdsBytes, withOwnBytes, withoutHandles } from "./inert.ts";
import type { Observer } from "../definition/observer.ts";

/**
 * Calls all observers with the event, synchronously and in the order of registration. If an observer
 * throws or its promise rejects, `onError` gets the error and the other observers are still called; an
 * error of `onError` is ignored. Observers can't change the event for each other or for the session, see
 * `withoutHandles`. A delta event is frozen in place, so pass an object that nothing else uses.
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
      // An async function fits the type of an observer. An unhandled rejection would end the process.
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
    // An error of the error handler is ignored.
  }
}
