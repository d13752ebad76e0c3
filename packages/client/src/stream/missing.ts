import type { Requests } from "../http/requests.ts";
import type { WatchedSession, WatchedSessions } from "./watched.ts";

/** The pauses between two looks for one session: doubled each time, and drawn from the upper half. */
const pauseMs = { least: 2_000, most: 60_000 } as const;

/**
 * Looks for sessions that were missing when they were watched, as long as somebody watches them: another
 * client may make them, and no stream tells that.
 */
export function seekMissing(parts: {
  readonly watched: WatchedSessions;
  readonly requests: Requests;
  readonly random: () => number;
  readonly signal: AbortSignal;
}): void {
  const { watched, requests, random, signal } = parts;
  const sought = new Set<WatchedSession>();
  const isMissing = ({ listeners, ended }: WatchedSession): boolean =>
    listeners.size > 0 && ended === "not_found";
  const seek = async (session: WatchedSession): Promise<void> => {
    const path = `/v1/sessions/${encodeURIComponent(session.id)}`;
    for (let range: number = pauseMs.least; ; range = Math.min(range * 2, pauseMs.most)) {
      await requests.pause(1, (range * (1 + random())) / 2, signal);
      if (!isMissing(session)) return;
      // Without an answer it is asked again later.
      const response = await requests.send(path, { signal }).catch(() => undefined);
      void response?.body?.cancel();
      if (!isMissing(session)) return;
      if (response?.ok === true) return watched.appeared(session);
    }
  };
  watched.onMissing = (session) => {
    if (sought.has(session)) return;
    sought.add(session);
    void seek(session)
      .catch(() => undefined) // the client was closed
      .finally(() => sought.delete(session));
  };
}
