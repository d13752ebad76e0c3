import type { ManualClock } from "@millrace/core/testing";

/** Moves a clock on in steps. Between two of them all is done that needs no time: also what hashes and streams. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    await clock.advance(Math.min(50, left));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  }
}

/** Moves a clock on until something is so: what is hashed outside takes real time. */
export async function passUntil(clock: ManualClock, isSo: () => boolean): Promise<void> {
  for (let steps = 0; !isSo(); steps += 1) {
    if (steps > 2_000) throw new Error("it was not so after 100 s");
    await pass(clock, 50);
  }
}

/** Moves a clock on until a promise is settled: reading a body takes turns of the machine, and no time of the clock. */
export async function settled<T>(clock: ManualClock, asked: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  asked.then(settle, settle);
  await passUntil(clock, () => isSettled);
  return await asked;
}

/** What a promise has come to after so much time of the clock. */
export async function after<T>(
  clock: ManualClock,
  ms: number,
  asked: Promise<T>,
): Promise<T | undefined> {
  let come: T | undefined;
  void asked.then((value) => (come = value));
  await pass(clock, ms);
  return come;
}
