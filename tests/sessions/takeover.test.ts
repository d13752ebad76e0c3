import { defineAgent } from "@millrace/agent";
import { say, scriptedModel, stall } from "@millrace/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rest, steps } from "./kit/clock.ts";
import { hashAtOnce } from "./kit/hash.ts";
import { stage } from "./kit/staged.ts";

/** Steps of promises after which whatever opening does has been done. */
const moments = 60;
/** An input takes a few steps to be stored, so it may have to be sent before the opening begins. */
const speaksFirst = 10;

describe("a run that a process has left", () => {
  let undo = (): void => undefined;
  beforeAll(() => {
    undo = hashAtOnce();
  });
  afterAll(() => undo());

  it("is taken up by the next one, whatever is sent at whatever moment meanwhile", async () => {
    for (let moment = 0; moment < moments; moment += 1) {
      const staged = await stage((clock) => ({ model: scriptedModel([[stall()]], { clock }) }));
      staged.session.send("go");
      await rest();
      const { clock } = staged;
      const model = scriptedModel([[say("Back.")], [say("Steered.")], [say("On.")]], { clock });

      const speak = async (): Promise<void> => {
        await steps(moment);
        // The superseded process does not know it yet: inputs sent to it count.
        staged.session.steer("rather this");
      };
      const [second] = await Promise.all([
        steps(speaksFirst).then(() => staged.reopen(defineAgent({ model }))),
        speak(),
      ]);
      await rest();
      const ends = (await staged.facts()).filter(({ type }) => type === "run_finished");

      expect(ends[0], `after ${moment} steps`).toMatchObject({ outcome: "completed" });
      await staged.session.close();
      await second.close();
    }
    console.log(`count: a run is taken up, ${moments} moments, 0 left`);
  });
});
