import { writeFileSync } from "node:fs";
import { findFakeTime, missing } from "../../../scripts/services/programs.ts";

/** The wall clock of one process, set apart from the machine's. Its monotonic clock stays true. */
export interface FakeClock {
  /** For the process whose clock it is. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the clock this many seconds ahead, or back. The process follows within a second. */
  readonly set: (seconds: number) => void;
}

/** Makes a clock that is read from a file, for any number of processes in turn. Needs libfaketime. */
export function makeFakeClock(file: string, seconds = 0): FakeClock {
  const library = findFakeTime();
  if (library === undefined) throw missing("libfaketime");
  const set = (to: number): void => writeFileSync(file, `${to < 0 ? "" : "+"}${to}\n`);
  set(seconds);
  return {
    set,
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1", // the name in older versions
    },
  };
}
