import type { ActivityInterceptorsFactory, WorkerInterceptors } from "@temporalio/worker";
import { redactError } from "@millrace/core/secrets";

/**
 * The interceptors of a worker with one before them that replaces the secrets of this process in whatever an activity
 * throws, with its causes, stack and details: Temporal stores that and shows it on its screens, and its SDK logs it.
 */
export function withRedaction(interceptors: WorkerInterceptors = {}): WorkerInterceptors {
  return { ...interceptors, activity: [redactFailures, ...(interceptors.activity ?? [])] };
}

const redactFailures: ActivityInterceptorsFactory = () => ({
  inbound: {
    execute: async (input, next) => {
      try {
        return await next(input);
      } catch (error) {
        throw redactError(error);
      }
    },
  },
});
