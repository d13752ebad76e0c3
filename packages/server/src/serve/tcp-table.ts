import { readFile } from "node:fs/promises";

/** One end of a connection, as `net.Socket` names it. */
export interface ConnectionEnds {
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** An established connection whose timer of repeats runs: our port, the far address and port, and the repeats. */
const repeating =
  /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) 01 [\dA-F]+:[\dA-F]+ 01:[\dA-F]+ ([\dA-F]{8})/gm;

/**
 * The connections of this machine as Linux lists them. Undefined where there is no such list. Read by
 * another thread: the list has a line for each connection.
 */
export async function readTcpTable(): Promise<string | undefined> {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((file) =>
    readFile(file, "latin1").catch(() => undefined),
  );
  const [tcp4, tcp6 = ""] = await Promise.all(tables);
  return tcp4 === undefined ? undefined : tcp4 + tcp6;
}

/**
 * How often bytes were sent again since the far end acknowledged the last ones, for each connection where
 * that is above 0, by `connectionKey`.
 */
export function repeatsOf(table: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [, local = "", address = "", port = "", hex = ""] of table.matchAll(repeating)) {
    const repeats = parseInt(hex, 16);
    if (repeats === 0) continue;
    const ends = [parseInt(local, 16), bytesOfTable(address), parseInt(port, 16)];
    found.set(ends.join(" "), repeats);
  }
  return found;
}

/** A name of a connection that is the same for a socket and for its line in the table. */
export function connectionKey({ localPort, remoteAddress, remotePort }: ConnectionEnds): string {
  return [localPort, bytesOfAddress(remoteAddress ?? ""), remotePort].join(" ");
}

const mappedPrefix = `${"00".repeat(10)}ffff`;

/** The bytes of an address as hex. One of IPv4 that a socket of IPv6 has counts as what it is. */
function plain(bytes: string): string {
  return bytes.startsWith(mappedPrefix) ? bytes.slice(mappedPrefix.length) : bytes;
}

/** The table has words of four bytes as the processor holds them, the lowest byte first. */
function bytesOfTable(hex: string): string {
  const words = hex.toLowerCase().match(/.{8}/g) ?? [];
  const bytes = words.map((word) => (word.match(/../g) ?? []).toReversed().join(""));
  return plain(bytes.join(""));
}

function bytesOfAddress(address: string): string {
  const [bare = ""] = address.split("%");
  const dotted = /\d+\.\d+\.\d+\.\d+$/.exec(bare)?.[0];
  if (dotted !== undefined) {
    const bytes = dotted.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0"));
    return bytes.join("");
  }
  const [before = "", after = ""] = bare.split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const [head, tail] = [groups(before), groups(after)];
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  return plain([...head, ...zeros, ...tail].map((group) => group.padStart(4, "0")).join(""));
}
