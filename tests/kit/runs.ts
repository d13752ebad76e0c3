/**
 * How often a property is tried: enough for each change, a hundred times that in a campaign run by
 * hand, and few for a mutant, of which there are many.
 */
export function runs(change: number, campaign: number): number {
  if (process.env["MUTATION"] === "1") return Math.min(change, 300);
  return process.env["CAMPAIGN"] === "1" ? campaign : change;
}
