/** The bytes in use, after what is not has been collected. Needs `--expose-gc`. */
export function usedMemory(): number {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  for (let time = 0; time < 3; time += 1) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
