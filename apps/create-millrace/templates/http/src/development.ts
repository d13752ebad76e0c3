// Before anybody signs in: this machine alone is served, with the token in ~/.millrace/token.
import { refuseOutsideDevelopment } from "./refuse.ts";
import type { SignIn } from "./serve.ts";

/** Ends the program in production, with what is missing. */
export function development(missing: string): SignIn {
  refuseOutsideDevelopment(missing);
  return {};
}
