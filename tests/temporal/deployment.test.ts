import { expect, it } from "vitest";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { post } from "../kit/deployment/command.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { isRunOver } from "../kit/deployment/is-run-over.ts";
import { until } from "../kit/until.ts";

it(
  "a prompt with calls that a web node took is answered by a worker of Temporal",
  { timeout: 300_000 },
  async () => {
    await using programs = await bundleTemporalNodes();
    await using deployment = await Deployment.start({
      programs,
      drives: "temporal",
      workers: 1,
      webs: 1,
      agent: { chunkMs: 5 },
      clocks: [3_600, -3_600],
    });
    const { store, addresses } = deployment;
    const { uid } = await store.create({ sessionId: "s1" });
    const text = textOfDirective({ key: "k", mode: "many", length: 40 });
    const command = { call: "send", key: "k", text } as const;

    const answer = await post(command, { session: "s1", addresses, patienceMs: 30_000 });
    await until(async () => isRunOver(await store.read(uid)), "the run ends");

    expect(answer).toEqual({ accepted: true, replayed: false });
    expect(
      deployment
        .effects()
        .map(({ tool }) => tool)
        .toSorted(),
    ).toEqual(["again", "pay", "pay"]);
    expect(deployment.strays).toEqual([]);
  },
);
