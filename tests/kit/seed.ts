/** Setup of every project: properties begin with the seed of the tier; a nightly run draws one for each. */
import { configureGlobal } from "fast-check";
import { firstSeed, isChange } from "./runs.ts";

if (isChange || process.env["SEED"] !== undefined) configureGlobal({ seed: firstSeed });
