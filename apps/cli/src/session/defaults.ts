import { join } from "node:path";

/** A name for a new session that people can type: its day, and five letters. */
export function newSessionName(time: number, random: () => number): string {
  const letters = "abcdefghjkmnpqrstuvwxyz23456789";
  const pick = (): string => letters[Math.floor(random() * letters.length)] ?? "a";
  const day = new Date(time).toISOString().slice(0, 10);
  return `${day}-${Array.from({ length: 5 }, pick).join("")}`;
}

/** The folder of sessions without `--store`, by the XDG base directories. */
export function defaultStoreFolder(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const state = env["XDG_STATE_HOME"];
  // The specification wants a path that is not absolute to be ignored.
  const base = state?.startsWith("/") === true ? state : join(home, ".local", "state");
  return join(base, "millrace", "sessions");
}
