/**
 * How many runs a property gets: `change` by default, `campaign` with CAMPAIGN=1, which is started by
 * hand, at most `unit` in `npm run test:unit`, and few under mutation testing, which repeats the suite
 * for every mutant.
 */
export function runs(change: number, campaign: number, unit = 500): number {
  if (process.env["MUTATION"] === "1") return Math.min(change, 300);
  if (process.env["UNIT"] === "1") return Math.min(change, unit);
  return process.env["CAMPAIGN"] === "1" ? campaign : change;
}
