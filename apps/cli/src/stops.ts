/** Why the process is asked to stop, other than by the keyboard. */
export type Stop = "interrupt" | "terminate" | "hang_up" | "broken_pipe";

/** What the shell is told: 128 and the number of the signal, as shells have it. */
export const stopCodes: Readonly<Record<Stop, number>> = {
  interrupt: 130,
  terminate: 143,
  hang_up: 129,
  broken_pipe: 130,
};

/** Listens for signals, and for a reader that leaves. What comes before somebody asks is kept. */
export interface Stops extends Disposable {
  readonly to: (taker: (stop: Stop) => unknown) => void;
}

export function listenForStops(output: {
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}): Stops {
  let kept: Stop[] = [];
  let taker: ((stop: Stop) => unknown) | undefined;
  const tell = (stop: Stop): void => {
    if (taker === undefined) kept.push(stop);
    else taker(stop);
  };
  const interrupt = (): void => tell("interrupt");
  const terminate = (): void => tell("terminate");
  const hangUp = (): void => tell("hang_up");
  const brokenPipe = (): void => tell("broken_pipe");
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", terminate);
  process.on("SIGHUP", hangUp);
  output.on("error", brokenPipe);
  return {
    to: (next) => {
      taker = next;
      const waiting = kept;
      kept = [];
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
