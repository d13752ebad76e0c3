/** What observers write to: a process's output, a file, a socket, a test's list. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** As terminals of Node answer it, by the environment: `NO_COLOR`, `TERM` and the like. */
  hasColors?(): boolean;
  on?(event: "error", listener: () => void): unknown;
}

const watched = new WeakSet<TextSink>();

/**
 * Writes at once and ignores that it fails: nobody reads any more, and that is no reason to end a
 * run. A pipe whose reader has left tells so later, by an event which would end the process if
 * nobody listened. A sink that is slow keeps what it was given; behind `queuedObserver` it need not.
 */
export function writerTo(sink: TextSink): (text: string) => void {
  if (sink.on !== undefined && !watched.has(sink)) {
    watched.add(sink);
    sink.on("error", () => undefined);
  }
  return (text) => {
    try {
      sink.write(text);
    } catch {
      // As above.
    }
  };
}
