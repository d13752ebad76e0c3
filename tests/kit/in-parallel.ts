/** Does all jobs, some at once, and resolves to their results in order. What fails is thrown once all have ended. */
export async function inParallel<T>(
  jobs: readonly (() => Promise<T>)[],
  atOnce: number,
): Promise<readonly T[]> {
  const failures: unknown[] = [];
  const results: T[] = [];
  const waiting = jobs.entries();
  const work = async (): Promise<void> => {
    for (const [at, job] of waiting) {
      try {
        results[at] = await job();
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length === 0) return results;
  const some = failures.slice(0, 5).map((failure) => String(failure));
  throw new Error(`${failures.length} of ${jobs.length} failed:\n${some.join("\n\n")}`);
}
