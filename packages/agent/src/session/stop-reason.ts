/** The longest reason that is stored with a stop. */
const longest = 500;

/**
 * Why a signal was aborted, in words. A time-out of `AbortSignal.timeout` and a reason that the caller
 * gave are reported; an abort without a reason has none.
 */
export function stopReasonOf({ reason }: AbortSignal): string | undefined {
  const value: unknown = reason;
  if (typeof value === "string") return value.slice(0, longest).toWellFormed();
  if (!isNamed(value) || value.name === "AbortError") return undefined;
  const words =
    value.name === "TimeoutError" ? "its signal timed out" : `${value.name}: ${value.message}`;
  return words.slice(0, longest).toWellFormed();
}

/** Errors, and the exceptions of the platform, which are not errors in every engine. */
function isNamed(value: unknown): value is { readonly name: string; readonly message: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    typeof value.name === "string" &&
    "message" in value &&
    typeof value.message === "string"
  );
}
