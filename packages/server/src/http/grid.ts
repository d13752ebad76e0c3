/** Answers about what is missing are sent at multiples of this after the request came, so that their time reveals nothing. */
const gridMs = 50;

/**
 * Resolves at the next multiple of the grid, never before it. A timer counts whole milliseconds and may be
 * early by a part of one: what it cuts off would be the part that the work before took.
 */
export async function untilGrid(
  age: () => number,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  const at = (Math.floor(age() / gridMs) + 1) * gridMs;
  for (let left = at - age(); left > 0; left = at - age()) await sleep(Math.ceil(left));
}
