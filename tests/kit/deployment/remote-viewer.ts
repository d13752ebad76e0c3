import { SessionViewer } from "./session-viewer.ts";

export interface RemoteViewerOptions {
  readonly session: string;
  /** The addresses of the web nodes. */
  readonly addresses: readonly string[];
  /** `cursor`: it comes back to where it was. `reload`: it comes back with nothing, as a reloaded page. */
  readonly returns: "cursor" | "reload";
}

/** A hub sends a heartbeat every five seconds. */
const silentMs = 8_000;

/** A viewer at web nodes that mount a hub, one after the other. */
export class RemoteViewer extends SessionViewer {
  constructor({ session, addresses, returns }: RemoteViewerOptions) {
    let at = Math.floor(Math.random() * addresses.length);
    const address = (): string => {
      at += 1;
      return `${addresses[at % addresses.length]}/${session}`;
    };
    const pause = (): number => 50 + Math.random() * 150;
    super({ address, silentMs, pause, reloads: returns === "reload" });
  }
}
