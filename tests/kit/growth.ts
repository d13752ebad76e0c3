/**
 * How many times more work four times the input takes: 4 when the cost is linear, 16 when it is
 * quadratic. `prepare` is not counted. Counted is the processor's time, not the clock's, since
 * others may use the machine too; of several runs the best counts, since noise only adds.
 */
export async function growth(
  size: number,
  prepare: (size: number) => () => unknown,
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
    large = Math.min(large, await cost(4 * size));
  }
  return large / small;
}

/** Between the two, with room for noise. */
export const notQuadratic = 12;
