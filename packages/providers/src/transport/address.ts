/** True for an address with a scheme that requests can be sent by. */
export function isHttpAddress(address: string): boolean {
  return /^https?:$/.test(URL.parse(address)?.protocol ?? "");
}
