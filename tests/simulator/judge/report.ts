import { simulation } from "../world/simulation.ts";

/** A rule that a history broke, and where it shows. */
export interface Breach {
  readonly rule: string;
  readonly what: string;
}

/** Collects what the oracles find. It is part of the trace, so that a replay finds the same. */
export class Report {
  readonly breaches: Breach[] = [];

  readonly add = (rule: string, what: string): void => {
    this.breaches.push({ rule, what });
    simulation().trace(`BREACH ${rule}: ${what}`);
  };
}
