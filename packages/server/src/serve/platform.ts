import { warn } from "@millrace/core/checks";

/** Variables by which platforms are known that freeze or end a process after its answer. */
const frozen: Readonly<Record<string, string>> = {
  AWS_LAMBDA_FUNCTION_NAME: "AWS Lambda",
  VERCEL: "Vercel",
  NETLIFY: "Netlify",
  FUNCTIONS_WORKER_RUNTIME: "Azure Functions",
  K_SERVICE: "Cloud Run",
};

/** Warns where a run would stop with the answer to its prompt. */
export function noteFrozenPlatform(
  environment: Readonly<Record<string, string | undefined>>,
  drives: boolean,
): void {
  const found = Object.keys(frozen).find((name) => environment[name] !== undefined);
  if (found === undefined || !drives) return;
  const fix = "pass driver: false, and drive runs by createWorker on a machine that stays";
  warn("MILLRACE_FROZEN_PLATFORM", `${frozen[found] ?? found} may stop runs after an answer`, fix);
}
