import process from "node:process";

const signals = ["SIGTERM", "SIGINT"] as const;

/** Calls back at each signal that asks this process to stop, until the result is called. */
export function onStopSignal(call: () => void): () => void {
  for (const signal of signals) process.on(signal, call);
  return () => {
    for (const signal of signals) process.off(signal, call);
  };
}
