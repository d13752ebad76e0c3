import type { BundleOptions } from "@temporalio/worker";

/**
 * The workflow task of a run whose worker has died waits this long for it before another worker may take
 * it. Temporal's default is 10 s.
 */
export const stickyMs = 500;

type Hook = NonNullable<BundleOptions["webpackConfigHook"]>;

/** A process that runs our sources bundles workflows of sources too. */
export const resolveAsHere: Hook = (config) => {
  if (!import.meta.url.endsWith(".ts")) return config;
  const conditionNames = ["@millrace/source", "..."];
  return { ...config, resolve: { ...config.resolve, conditionNames } };
};
