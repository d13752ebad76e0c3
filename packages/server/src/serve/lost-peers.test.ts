import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "@millrace/core/ports";
import { describe, expect, it } from "vitest";
import { LostPeers } from "./lost-peers.ts";
import type { Peer } from "./lost-peers.ts";
import { connectionKey, readTcpTable, repeatsOf } from "./tcp-table.ts";

const head =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

/** A line as the kernel writes it: from port 8080 to an address, with the timer of repeats running. */
function line(far: string, repeats: number, { state = "01", timer = "01" } = {}): string {
  const count = repeats.toString(16).toUpperCase().padStart(8, "0");
  const local = far.length > 13 ? "0000000000000000FFFF00000100007F" : "0100007F";
  return `  12: ${local}:1F90 ${far} ${state} 0000002A:00000000 ${timer}:00000A3C ${count}     0        0 81233 3 0000000012345678 20 4 30 10 -1\n`;
}

const far4 = "0A00020A:C350"; // 10.2.0.10, port 50000
const mapped = "0000000000000000FFFF00000A00020A:C350";
const far6 = "B80D0120000000000000000001000000:C350"; // 2001:db8::1

describe("the kernel's list of connections", () => {
  it("has the repeats of a connection under the name that its socket has", () => {
    const found = repeatsOf(head + line(far4, 11));
    const ends = { localPort: 8_080, remotePort: 50_000 };

    expect(found.get(connectionKey({ ...ends, remoteAddress: "10.2.0.10" }))).toBe(11);
    expect(found.get(connectionKey({ ...ends, remoteAddress: "::ffff:10.2.0.10" }))).toBe(11);
    expect(repeatsOf(head + line(mapped, 3))).toEqual(repeatsOf(head + line(far4, 3)));
    const six = connectionKey({ ...ends, remoteAddress: "2001:db8::1" });
    expect(repeatsOf(head + line(far6, 2)).get(six)).toBe(2);
  });

  it("has nothing about connections that are well, that close, or whose far end is full", () => {
    const well = line(far4, 0);
    const closes = line(far4, 9, { state: "04" });
    const full = line(far4, 9, { timer: "04" });

    expect(repeatsOf(head + well + closes + full).size).toBe(0);
  });

  it("names a real connection as its socket does", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const near = connect(port, "127.0.0.1");
    await new Promise((resolve) => near.once("connect", resolve));
    const table = (await readTcpTable()) ?? "";
    // As if it sent again: state and timer of its line are those of a connection with repeats.
    const asLost = table.replaceAll(
      / 01 ([\dA-F:]{17}) \d\d:[\dA-F]{8} [\dA-F]{8}/g,
      " 01 $1 01:00000000 00000005",
    );
    const found = repeatsOf(asLost).get(connectionKey(near));
    near.destroy();
    server.close();

    expect(found).toBe(process.platform === "linux" ? 5 : undefined);
  });
});

/** A peer, and a watch over it that sees one list after the other. Resolves to the looks until it was closed. */
async function looksUntilClosed(lists: readonly string[]): Promise<number | undefined> {
  let [looks, closedAt]: [number, number | undefined] = [0, undefined];
  const peer: Peer = {
    localPort: 8_080,
    remoteAddress: "10.2.0.10",
    remotePort: 50_000,
    destroy: () => {
      closedAt ??= looks;
    },
  };
  // Every wait is over at once: only sleeping is used.
  const clock = { sleep: () => turn() } as unknown as Clock;
  const over = Promise.withResolvers<void>();
  const read = async (): Promise<string | undefined> => {
    const list = lists[looks];
    looks += 1;
    if (list === undefined) over.resolve();
    return list === undefined ? undefined : head + list;
  };
  new LostPeers({ clock, everyMs: 1, read }).watch(peer);
  await over.promise;
  return closedAt;
}

describe("a connection whose bytes are not acknowledged", () => {
  it("is closed at the second look at which they were sent again and again", async () => {
    expect(await looksUntilClosed([line(far4, 3), line(far4, 6), ""])).toBe(2);
    expect(await looksUntilClosed([line(far4, 6), line(far4, 6), ""])).toBe(2);
  });

  it("stays while it is only slow: few repeats, one look, or progress in between", async () => {
    expect(await looksUntilClosed([line(far4, 3), line(far4, 4), ""])).toBeUndefined();
    expect(await looksUntilClosed(["", line(far4, 9), "", ""])).toBeUndefined();
    expect(await looksUntilClosed([line(far4, 9), line(far4, 5), ""])).toBeUndefined();
  });

  it("stays if another one is lost", async () => {
    const other = line("0A00020B:C350", 9);
    expect(await looksUntilClosed([other, other, other])).toBeUndefined();
  });
});
