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
 */
export function countedAddress(incoming: Incoming, trustProxy: boolean): string | undefined {
  const given = trustProxy
    ? incoming.header("x-forwarded-for")?.split(",").at(-1)?.trim()
    : incoming.peer;
  const [address = ""] = given?.split("%", 1) ?? []; // without the zone of a local address
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  if (family === "ipv6" && !isIPv6(address)) return undefined;
  if (!trustProxy && near.check(address, family)) return undefined;
  return family === "ipv4" ? address : networkOf(address);
}

/** The first half of an address of IPv6, since a caller has all of its second. All of one that stands for IPv4. */
function networkOf(address: string): string {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical
    .split("::")
    .map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  const groups = [...head, ...zeros, ...tail];
  const isIpv4 = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff";
  return groups.slice(0, isIpv4 ? 8 : 4).join(":");
}
