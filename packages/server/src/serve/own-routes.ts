import type { SessionStore } from "@millrace/core/ports";
import type { Answer } from "../http/answer.ts";
import { Problem } from "../http/problem.ts";
import type { Route, RouteName } from "../http/route.ts";
import { openapiDocument } from "../openapi/document.ts";
import type { Life } from "./life.ts";

/** How long the store may take to answer before the process counts as not ready. */
const storeMs = 2_000;

/** The routes of the server itself. */
export function ownRoutes(
  life: Life,
  store: () => SessionStore,
  routes: readonly Route[],
): Readonly<Partial<Record<RouteName, () => Promise<Answer>>>> {
  return {
    health: async () => ({ status: 200 }),
    ready: async () => {
      const retryAfter = 5;
      if (life.draining) throw new Problem("overloaded", "the server is closing", { retryAfter });
      if (await answers(store())) return { status: 200 };
      throw new Problem("store_unavailable", "the store does not answer", { retryAfter });
    },
    openapi: async () => ({ status: 200, json: openapiDocument(routes) }),
  };
}

/** Whether the store answers a question that costs it little. */
async function answers(store: SessionStore): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), storeMs);
  try {
    const asked = store.find("ready").then(() => true as const);
    return await Promise.race([asked, late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
