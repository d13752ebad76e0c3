import { checkTranscript } from "@millrace/core/writing";
import type { ModelRequest } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { rest } from "./kit/clock.ts";
import { stage } from "./kit/staged.ts";
import { manyTools } from "./kit/tools.ts";

describe("a branch of a session whose run is on", () => {
  it("does nothing by itself, and can be gone on with", async () => {
    const asked: ModelRequest[] = [];
    const reply = (request: ModelRequest) => {
      asked.push(request);
      return asked.length === 1 ? [call("wire", {}), call("look", {})] : [say("done")];
    };
    const staged = await stage((clock) => ({
      model: scriptedModel([reply, reply, reply], { clock }),
      tools: manyTools(clock),
    }));
    const { session } = staged;
    session.send("go");
    await rest();
    session.steer("rather this");
    await rest();
    const replied = session.transcript.find(({ author }) => author === "model");

    const branch = await session.fork(replied?.id ?? "none");
    await rest();

    expect(branch.status).toBe("idle");
    expect(branch.queue).toStrictEqual([]);
    expect(asked).toHaveLength(1);
    const faults = checkTranscript(branch.transcript).filter(({ code }) => code !== "out_of_order");
    expect(faults).toStrictEqual([]);
    expect(session.status).toBe("running");
    expect(await staged.ended(branch.send("on"))).toMatchObject({ outcome: "completed" });
    await branch.close();
    await session.close();
  });
});
