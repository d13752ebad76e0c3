/**
 * How often a property is tried: enough for each change, a hundred times that in a campaign run by
 * hand, at most 2,000 times in `npm run test:unit`, and few for a mutant, of which there are many.
 */
export function runs(change: number, campaign: number): number {
  if (process.env["MUTATION"] === "1") return Math.min(change, 300);
  if (process.env["UNIT"] === "1") return Math.min(change, 2_000);
  return process.env["CAMPAIGN"] === "1" ? campaign : change;
}
