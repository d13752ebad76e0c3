import { Random } from "../../../../../tests/kit/random.ts";

/** A program that does not want to end, and how it is to be ended. */
export interface Unruly {
  readonly script: string;
  readonly habits: readonly string[];
  /** `exit`: it ends by itself and leaves the others behind. */
  readonly stop: "abort" | "timeout" | "exit";
  readonly stopAfterMs: number;
  readonly graceMs: number;
}

/**
 * What a child does to outlive its execution. `T` stands for the token by which a test recognises
 * it, also when its environment is empty; it is a time to sleep, so that nobody is left for ever
 * where a test fails.
 */
export const habits: Readonly<Record<string, string>> = {
  fork: "sleep T &",
  fork_twice: "(sleep T &)",
  fork_quietly: "sleep T >/dev/null 2>&1 &",
  setsid: "setsid sleep T &",
  setsid_twice: "(setsid sh -c 'setsid sleep T & sleep T' T &)",
  ignore_term: "(trap '' TERM; sleep T; sleep T) &",
  ignore_term_setsid: "(trap '' TERM; setsid sleep T &)",
  clear_environment: "(env -i /bin/sleep T &)",
  clear_environment_setsid: "sh -c 'env -i setsid /bin/sleep T & wait' T &",
  stop_itself: "sh -c 'kill -STOP $$; sleep T' T &",
  start_again: "sh -c 'for n in 1 2 3 4 5; do (setsid sleep T &); sleep 0.02; done; sleep T' T &",
  // Each of a chain lives for a few milliseconds, starts the next one and ends; eight at most.
  chain: `setsid sh -c '${link("")}' '${link("")}' 8 T &`,
  chain_setsid: `setsid sh -c '${link("setsid")}' '${link("setsid")}' 8 T &`,
};

/** What only a PID namespace ends for certain: a process that does it can't be found by any scan. */
export const escapes: Readonly<Record<string, string>> = {
  escape_setsid: "env -i setsid /bin/sh -c 'sleep T; sleep T' T &",
  escape_fork_twice: "(env -i setsid /bin/sh -c '(/bin/sleep T &); sleep T' T &)",
  nohup: "nohup env -i setsid /bin/sleep T >/dev/null 2>&1 &",
  disown: "bash -c 'env -i setsid /bin/sleep T & disown' T &",
  daemon: `setsid env -i /bin/sh -c '(cd /; umask 0; setsid /bin/sh -c "exec /bin/sleep T </dev/null >/dev/null 2>&1" &)' T &`,
  daemon_later: "(sleep 0.02; env -i setsid setsid /bin/sleep T &) &",
};

/** A script that starts itself again: it is its own first argument, the second is how often. */
function link(how: string): string {
  return `sleep 0.01; [ $1 -gt 0 ] && ${how} sh -c "$0" "$0" $(($1 - 1)) $2 &`;
}

const endings = [
  "wait; sleep T",
  "exec sleep T",
  "trap '' TERM; while :; do sleep T; done",
] as const;

/** The same program for the same number, with these habits. */
export function unruly(
  number: number,
  token: string,
  known: Readonly<Record<string, string>> = habits,
): Unruly {
  const random = new Random(number);
  const names = Object.keys(known);
  const chosen = Array.from({ length: 1 + random.below(3) }, () => random.pick(names));
  const stop = random.pick(["abort", "abort", "abort", "timeout", "exit"] as const);
  const ending = stop === "exit" ? "exit 3" : random.pick(endings);
  const script = [...chosen.map((name) => known[name] ?? ""), ending].join("\n");
  return {
    script: script.replaceAll(/\bT\b/g, token),
    habits: chosen,
    stop,
    stopAfterMs: random.below(40),
    graceMs: random.below(80),
  };
}
