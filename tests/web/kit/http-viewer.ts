import { SessionViewer } from "../../kit/deployment/session-viewer.ts";
import { credentials } from "./person.ts";

export interface HttpViewerOptions {
  readonly session: string;
  /** Where to connect, asked before each connection. A promise: it waits with that. */
  readonly url: () => string | Promise<string>;
  /** The longest pause before it comes back, whatever the server's `retry` is, which is a pause of its own for each. */
  readonly pauseMs?: number | undefined;
  /** A connection without a byte for so long is given up. Three heartbeats of a server, 45 s, if left out. */
  readonly silentMs?: number | undefined;
  /** While this is so, it reads one byte a second. */
  readonly isSlow?: (() => boolean) | undefined;
  /** Whether an answer other than 200 is a fault, and not a server that is away. True if left out. */
  readonly refusalIsFault?: boolean | undefined;
  /** It comes back with nothing, as a reloaded page, instead of where it was. */
  readonly reloads?: boolean | undefined;
}

/** A viewer at the routes of a server. */
export class HttpViewer extends SessionViewer {
  constructor(options: HttpViewerOptions) {
    const { session, url, pauseMs = Infinity, silentMs = 45_000, isSlow } = options;
    const { refusalIsFault = true, reloads } = options;
    super({
      address: async () => `${await url()}/v1/sessions/${session}/events`,
      headers: credentials,
      silentMs,
      isSlow,
      // The server has drawn a time for each reader. A try that failed is repeated at times of its own.
      pause: (retryMs, wasServed) =>
        Math.min(wasServed ? retryMs : Math.random() * retryMs, Math.random() * pauseMs),
      refusalIsFault,
      reloads,
    });
  }
}
