import { BlockList, isIPv4, isIPv6 } from "node:net";
import type { Incoming } from "../http/request.ts";

/** Addresses of machines beside the server: of a proxy, or of a network where many share one. */
const near = new BlockList();
for (const [address, bits] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  near.addSubnet(address, bits, "ipv4");
for (const [address, bits] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  near.addSubnet(address, bits, "ipv6");

/**
 * The address by which a caller is counted: that of the connection, or the last of `X-Forwarded-For` behind a proxy
 * that is trusted. Undefined where it would be shared: by all callers of a proxy that is not declared, or by a network.
 * Of IPv6 the first half, since a caller has all of its second.
 */
export function countedAddress(incoming: Incoming, trustProxy: boolean): string | undefined {
  const forwarded = trustProxy ? incoming.header("x-forwarded-for")?.split(",").at(-1) : undefined;
  const address = forwarded?.trim() ?? (trustProxy ? undefined : incoming.peer);
  if (address === undefined) return undefined;
  if (isIPv4(address)) return trustProxy || !near.check(address, "ipv4") ? address : undefined;
  if (!isIPv6(address) || (!trustProxy && near.check(address, "ipv6"))) return undefined;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mapped ?? firstHalf(address);
}

function firstHalf(address: string): string {
  const [before = "", after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].slice(0, 4).join(":");
}
