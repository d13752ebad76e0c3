// Nobody signs in yet. README.md says how that is chosen.
import { development } from "./development.ts";
import type { SignIn } from "./serve.ts";

/** How people sign in. Ends the program in production, until that is chosen. */
export function openSignIn(): SignIn {
  return development(
    'To run this in production, choose how people sign in: see "Who may use it" in README.md.',
  );
}
