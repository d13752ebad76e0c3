/** A target for text, such as a stream of Node: standard output, a file, a socket. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** As in `tty.WriteStream` of Node, which reads `NO_COLOR` and `TERM`. */
  hasColors?(): boolean;
  on?(event: "error", listener: () => void): unknown;
}

const watched = new WeakSet<TextSink>();

/**
 * Makes a function that writes at once and ignores failures: a closed output must not end a run. A pipe
 * without a reader emits `error` later, which would end the process without a listener, so one is added
 * once for each sink. A slow sink buffers all text in memory; use `queuedObserver` to bound that.
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
      // A closed output, see above.
    }
  };
}
