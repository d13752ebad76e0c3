import { badBytesCases } from "./bad-bytes.ts";
import { badInputCases } from "./bad-input.ts";
import { controlCases } from "./control.ts";
import { eventCases } from "./events.ts";
import { fileCases } from "./files.ts";
import type { HttpCase } from "./http-case.ts";
import { inputCases } from "./inputs.ts";
import { limitCases } from "./limits.ts";
import { manyCases } from "./many.ts";
import { matrixCases } from "./matrix.ts";
import { quotaCases } from "./quotas.ts";
import { requestCases } from "./requests.ts";
import { safetyCases } from "./safety.ts";
import { sessionCases } from "./sessions.ts";
import { sizeCases } from "./sizes.ts";
import { stateCases } from "./state.ts";
import { ticketCases } from "./tickets.ts";
import type { HttpTarget } from "./target.ts";
import { waitingCases } from "./waiting.ts";

/** Every case of the HTTP API that needs neither load nor a browser. */
export const httpCases: readonly HttpCase[] = [
  ...sessionCases,
  ...inputCases,
  ...waitingCases,
  ...controlCases,
  ...eventCases,
  ...manyCases,
  ...stateCases,
  ...fileCases,
  ...matrixCases,
  ...safetyCases,
  ...ticketCases,
  ...requestCases,
  ...badInputCases,
  ...badBytesCases,
  ...limitCases,
  ...quotaCases,
  ...sizeCases,
];

/** The cases whose needs a target gives. Those of an outage come last: they disturb all others. */
export function httpCasesFor({ gives }: Pick<HttpTarget, "gives">): readonly HttpCase[] {
  const possible = httpCases.filter(({ needs }) => needs.every((need) => gives.includes(need)));
  const disturbs = ({ needs }: HttpCase): boolean =>
    needs.includes("outage") || needs.includes("loss");
  return possible.toSorted((a, b) => Number(disturbs(a)) - Number(disturbs(b)));
}
