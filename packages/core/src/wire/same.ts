/**
 * Whether two values of the protocol are equal by value: JSON, and bytes. A field that is undefined is
 * one that is left out, and `0` and `-0` are one value. Linear in the smaller value.
 */
export function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return false;
  if (left instanceof Uint8Array || right instanceof Uint8Array)
    return left instanceof Uint8Array && right instanceof Uint8Array && sameBytes(left, right);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [one, other] = [fieldsOf(left), fieldsOf(right)];
  return one.size === other.size && [...one].every(([key, value]) => same(value, other.get(key)));
}

function fieldsOf(value: object): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([, field]) => field !== undefined));
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}
