import type { Scenario } from "../scenario.ts";
import { customScenarios } from "./custom.ts";
import { deeperScenarios } from "./deeper.ts";
import { inputScenarios } from "./inputs.ts";
import { peopleScenarios } from "./people.ts";
import { plainScenarios } from "./plain.ts";
import { stopScenarios } from "./stops.ts";
import { toolScenarios } from "./tools.ts";

/** Every session that is killed at its boundaries. */
export const scenarios: readonly Scenario[] = [
  ...plainScenarios,
  ...inputScenarios,
  ...stopScenarios,
  ...toolScenarios,
  ...peopleScenarios,
  ...deeperScenarios,
  ...customScenarios,
];
