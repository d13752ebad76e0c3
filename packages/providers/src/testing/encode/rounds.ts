/**
 * Calls `work` for 0, 1, 2 … until `count`, or until five have failed. Yields to the event loop
 * regularly, because the test runner gives up on a worker that does not answer for a minute.
 */
export async function rounds(
  count: number,
  work: (round: number) => Iterable<string>,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (let round = 0; round < count; round += 1) {
    for (const failed of work(round)) {
      failures.push(failed);
      if (failures.length === 5) return failures;
    }
    if (round % 500 === 499) await new Promise((resolve) => void setImmediate(resolve));
  }
  return failures;
}
