/**
 * How many runs a property gets, by the tier:
 *
 * - `nightly` with NIGHTLY=1, in `npm run nightly`;
 * - at most `change` with every change: 500 in the projects `unit` and `local`, and as many as nightly in
 *   others;
 * - `campaign` with CAMPAIGN=1, which is started by hand;
 * - few under mutation testing, which repeats the suite for every mutant.
 */
export function runs(nightly: number, campaign: number, change: number = changeSize): number {
  if (process.env["MUTATION"] === "1") return Math.min(nightly, 300);
  if (process.env["CAMPAIGN"] === "1") return campaign;
  return isChange ? Math.min(nightly, change) : nightly;
}

/** Whether tests have the size that they have with every change. */
export const isChange: boolean = ["NIGHTLY", "CAMPAIGN", "MUTATION"].every(
  (name) => process.env[name] !== "1",
);

const changeSize = process.env["UNIT"] === "1" ? 500 : Infinity;

/**
 * The seed with which random tests begin: SEED, or the same one with every change, so that a red test is
 * due to the change. Nightly runs and campaigns draw a new one.
 */
export const firstSeed: number = Number(
  process.env["SEED"] ?? (isChange ? 1 : Date.now() % 1_000_000),
);
