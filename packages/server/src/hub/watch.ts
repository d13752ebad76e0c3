import type { Followed } from "@millrace/core/reading";
import type { WatchOptions } from "./options.ts";
import type { Rooms } from "./rooms.ts";
import { Viewer } from "./viewer.ts";

/** The messages of a session for one viewer, without end. See `Hub.watch`. */
export async function* watchSession(
  rooms: Rooms,
  { signal, ...watched }: WatchOptions,
): AsyncGenerator<Followed, void, undefined> {
  if (isAborted(signal)) return;
  const room = rooms.of(watched);
  if (room === undefined) return;
  let resume: (() => void) | undefined;
  const wake = (): void => resume?.();
  const viewer = new Viewer(room, watched, { wake });
  room.enter();
  signal?.addEventListener("abort", wake, { once: true });
  try {
    while (!isAborted(signal)) {
      const [followed] = viewer.ready ? viewer.take(1) : [];
      if (followed !== undefined) yield followed;
      else if (room.end === undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        resume = resolve;
        const leave = room.wait(resolve);
        await promise;
        leave();
      } else if ("error" in room.end) throw room.end.error;
      else return;
    }
  } finally {
    signal?.removeEventListener("abort", wake);
    room.leave();
  }
}

/** A function, because the compiler would take `aborted` as unchanged across a wait. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
