import { join } from "node:path";

/** Where sessions are kept if nothing is said, as the XDG directories have it. */
export function defaultStoreFolder(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const state = env["XDG_STATE_HOME"];
  // The specification wants a path that is not absolute to be ignored.
  const base = state?.startsWith("/") === true ? state : join(home, ".local", "state");
  return join(base, "millrace", "sessions");
}
