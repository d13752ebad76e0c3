import { Random } from "../../kit/random.ts";
import { firstSeed as seed, runs } from "../../kit/runs.ts";

/** At how many random moments of a reply each fault happens. */
const momentsOfEach: number = runs(6, 20);

/** So many at once: more of them would compete for the cores and not for the server. */
export const momentsAtOnce = 6;

/** One occurrence of a fault. */
export interface Moment {
  /** The session, and the user, that it happens to. */
  readonly session: string;
  /** How much of the reply is shown when it happens: 0 is before the first letter. */
  readonly share: number;
  readonly random: Random;
}

/** The moments of a fault, in groups that happen side by side. The seed repeats them: `SEED=…`. */
export function groupsOfMoments(fault: string): readonly (readonly Moment[])[] {
  console.log(`${fault}: SEED=${seed}`);
  const random = new Random(seed);
  const name = fault.replaceAll(/[^a-z0-9]+/gi, "-");
  const all = Array.from({ length: momentsOfEach }, (_, at) => ({
    session: `${name}-${at}`,
    share: random.next(),
    random: new Random(random.below(1e9)),
  }));
  return Array.from({ length: Math.ceil(all.length / momentsAtOnce) }, (_, at) =>
    all.slice(at * momentsAtOnce, (at + 1) * momentsAtOnce),
  );
}
