/** An operator ends the workflow of a session in the middle of a reply. */
import { expect, it } from "vitest";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { until } from "../kit/until.ts";
import { connectClient } from "./kit/connect-client.ts";
import { PromptedSession } from "./kit/prompted-session.ts";

it(
  "a run whose workflow was terminated goes on within seconds in another one, and is never doubled",
  { timeout: 180_000 },
  async () => {
    await using programs = await bundleTemporalNodes();
    await using deployment = await Deployment.start({
      programs,
      drives: "temporal",
      workers: 2,
      webs: 1,
      agent: { chunkMs: 20 },
      drainMs: 300,
    });
    await using client = await connectClient(deployment.temporal?.url);
    using session = await PromptedSession.create(deployment, "terminated");
    await session.prompt("plain", 400);
    await until(() => session.shownText > 20, "a worker writes");

    await client.workflow.getHandle(`session:${session.record.uid}`).terminate("by a test");
    const begun = performance.now();
    const claims = async (): Promise<number> =>
      (await session.facts()).filter(({ type }) => type === "session_claimed").length;
    await until(async () => (await claims()) === 2, "another workflow has claimed it");
    const ms = performance.now() - begun;
    await session.ended(120_000);

    console.log(`claimed by another workflow after ${Math.round(ms)} ms`);
    expect(ms).toBeLessThan(20_000);
    expect((await session.facts()).at(-1)).toMatchObject({ outcome: "completed" });
    expect(await session.judge()).toEqual([]);
    expect(deployment.strays).toEqual([]);
  },
);
