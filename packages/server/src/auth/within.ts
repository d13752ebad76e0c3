import { Problem } from "../http/problem.ts";
import type { MaybePromise } from "../http/types.ts";

/** How long the application's functions may take. */
const askSeconds = 5;

/**
 * The answer of a function of the application. What throws, and what does not answer in time, is
 * `overloaded`: never a yes.
 */
export async function askApplication<T>(name: string, ask: () => MaybePromise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), askSeconds * 1_000);
  try {
    return await Promise.race([ask(), late]);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const detail = `${name} failed: repeat the request`;
    const problem = new Problem("overloaded", detail, { retryAfter: 2 });
    throw Object.assign(problem, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
