import { Client, Connection } from "@temporalio/client";
import { between, refused, silent } from "./faults.ts";
import type { Fault, FaultyPlace } from "./faults.ts";
import type { Random } from "../kit/random.ts";

/** The faults that a deployment has beside the others if Temporal drives it. */
export const temporalFaults: Readonly<Record<string, Fault>> = {
  "Temporal killed": async ({ deployment: { temporal } }, random) => {
    await temporal?.kill();
    await between(random, 0, 2_500);
    await temporal?.restart();
  },
  "Temporal paused": async ({ deployment: { temporal } }, random) => {
    await temporal?.stop();
    await between(random, 300, 4_000);
    await temporal?.cont();
  },
  "Temporal's database killed": async ({ deployment: { temporal } }, random) => {
    await temporal?.postgres.kill();
    await between(random, 0, 2_500);
    await temporal?.postgres.restart();
  },
  "connections to Temporal cut": async ({ deployment: { nodes } }, random) =>
    random.pick(nodes).temporal?.cut(),
  "Temporal unreachable for one node": ({ deployment: { nodes } }, random) =>
    refused(random, random.pick(nodes).temporal),
  "Temporal silent for one node": ({ deployment: { nodes } }, random) =>
    silent(random, random.pick(nodes).temporal),
  "a workflow cancelled by an operator": (place, random) => operate(place, random, "cancel"),
  "a workflow terminated by an operator": (place, random) => operate(place, random, "terminate"),
};

/** Does something to the workflow of a session, unless it has none now, or Temporal is away. */
async function operate(
  { deployment: { store, temporal } }: FaultyPlace,
  random: Random,
  what: "cancel" | "terminate",
): Promise<void> {
  const records = await store.list().catch(() => []);
  if (temporal === undefined || records.length === 0) return;
  const connection = await Connection.connect({ address: temporal.url }).catch(() => undefined);
  if (connection === undefined) return;
  const { uid } = random.pick(records);
  const workflow = new Client({ connection }).workflow.getHandle(`session:${uid}`);
  await workflow[what]().catch(() => undefined);
  await connection.close();
}
