import { createHash } from "node:crypto";
import { Random } from "../../kit/random.ts";

/** Random numbers for one purpose. Leaving out a fault shifts only the numbers of what it concerned. */
export function randomOf(seed: string): Random {
  return new Random(createHash("sha256").update(seed).digest().readInt32LE(0));
}
