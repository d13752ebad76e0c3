import type { HttpCase } from "./http-case.ts";
import { loadCases } from "./load.ts";
import { probingCases } from "./probing.ts";
import { runQuotaCases } from "./quotas.ts";
import { strictCases } from "./strict.ts";

/** Cases of load, of bounds of time and of probing: run them one at a time, on one mount. */
export const httpLoadCases: readonly HttpCase[] = [
  ...strictCases,
  ...runQuotaCases,
  ...loadCases,
  ...probingCases,
];
