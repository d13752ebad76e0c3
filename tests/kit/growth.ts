/**
 * The factor by which the cost grows when the input grows by `times`, fourfold unless given: 4 for
 * linear work, 16 for quadratic, 1 for work that does not depend on the input. Measures processor time, since other load on the machine slows the clock's. Takes the
 * least of several runs, since noise only adds. `prepare` is not measured.
 */
export async function growth(
  size: number,
  prepare: (size: number) => () => unknown,
  times = 4,
): Promise<number> {
  const cost = async (amount: number): Promise<number> => {
    const work = prepare(amount);
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  let small = Infinity;
  let large = Infinity;
  for (let run = 0; run < 6; run += 1) {
    small = Math.min(small, await cost(size));
    large = Math.min(large, await cost(times * size));
  }
  return large / small;
}

/** A limit between linear and quadratic, with a margin for noise. */
export const notQuadratic = 12;
