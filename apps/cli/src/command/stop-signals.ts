/** Why the process is asked to stop, other than by the keyboard. */
export type Stop = "interrupt" | "terminate" | "hang_up" | "broken_pipe";

/** Exit codes: 128 and the number of the signal, as shells have it. */
export const stopCodes: Readonly<Record<Stop, number>> = {
  interrupt: 130,
  terminate: 143,
  hang_up: 129,
  broken_pipe: 130,
};

/** Signals and broken pipes of the process. Those before a handler is connected are buffered. */
export interface StopSignals extends Disposable {
  /** Passes on what is buffered, and from then on each stop. Replaces the last handler. */
  readonly connect: (handler: (stop: Stop) => unknown) => void;
}

/** Listens until it is disposed of. */
export function listenForStopSignals(output: {
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}): StopSignals {
  let buffered: Stop[] = [];
  let handler: ((stop: Stop) => unknown) | undefined;
  const pass = (stop: Stop): void => {
    if (handler === undefined) buffered.push(stop);
    else handler(stop);
  };
  const interrupt = (): void => pass("interrupt");
  const terminate = (): void => pass("terminate");
  const hangUp = (): void => pass("hang_up");
  const brokenPipe = (): void => pass("broken_pipe");
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", terminate);
  process.on("SIGHUP", hangUp);
  output.on("error", brokenPipe);
  return {
    connect: (next) => {
      handler = next;
      const waiting = buffered;
      buffered = [];
      for (const stop of waiting) next(stop);
    },
    [Symbol.dispose]: () => {
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", terminate);
      process.off("SIGHUP", hangUp);
      output.off("error", brokenPipe);
    },
  };
}
