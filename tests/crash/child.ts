/** One process of a scenario: starts or resumes it, and ends by itself or at the given boundary. */
import { join } from "node:path";
import { memoryEventLog } from "@millrace/core/memory";
import { fileStore } from "@millrace/stores/file";
import { createBoundaries, watchLog, watchStore } from "./kit/boundaries.ts";
import { createGates } from "./kit/gates.ts";
import { tableModel } from "./kit/model.ts";
import { performScript } from "./kit/steps.ts";
import { openTally } from "./kit/tally.ts";
import { makeTool } from "./kit/tools.ts";
import { scenarios } from "./scenarios/all.ts";

const [name = "", folder = "", killAt = "0"] = process.argv.slice(2);
const scenario = scenarios.find((known) => known.name === name);
if (scenario === undefined) throw new Error(`there is no scenario ${name}`);

const tally = (file: string) => openTally(join(folder, file));
const boundaries = createBoundaries(Number(killAt), tally("ends").file);
const gates = createGates();
const [effects, requests, acks] = [tally("effects"), tally("requests"), tally("acks")];
const files = fileStore(join(folder, "sessions"), { fsync: "never" });
const agent = scenario.agent({
  model: (replies) => tableModel(replies, { boundaries, gates, requests }),
  tool: (plan) => makeTool(plan, { boundaries, gates, effects }),
  gates,
  boundaries,
});
const ports = {
  store: watchStore(files, boundaries),
  log: watchLog(memoryEventLog(), boundaries),
};
await performScript(scenario, { agent, ports, gates, boundaries, acks });
await files.close();
process.stdout.write(boundaries.passed.join("\n"));
