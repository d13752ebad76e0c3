import { connect } from "node:net";
import type { RawRequests } from "./raw-requests.ts";

/** How long the server may be silent before its connection is given up: for requests that it can't complete, a moment. */
const quietMs = { whole: 5_000, changed: 150 };

/** Sends bytes over a connection of their own. The statuses of all answers that came. */
export async function sendRaw(
  port: number,
  { bytes, isWhole }: Pick<RawRequests, "bytes" | "isWhole">,
): Promise<readonly number[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  let answer = "";
  socket.setTimeout(isWhole ? quietMs.whole : quietMs.changed, () => socket.destroy());
  socket.on("data", (piece: Buffer) => {
    answer += piece.toString("latin1");
    if (/^content-type: text\/event-stream/im.test(answer)) socket.destroy(); // it would stay open
  });
  socket.on("error", () => socket.destroy()); // the server may reset what it refuses
  socket.on("close", () => resolve());
  await promise;
  return Array.from(answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm), ([, status]) => Number(status));
}
