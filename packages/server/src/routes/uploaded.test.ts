import { expect, it } from "vitest";
import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { newKey, Served } from "../testing/served.ts";

it("a model of a run gets the bytes of an uploaded file", async () => {
  const seen: string[] = [];
  const model = scriptedModel([[say("seen")]]);
  const agent = defineAgent({
    model: {
      ...model,
      stream: (request) => {
        for (const { parts } of request.transcript)
          for (const part of parts)
            if (part.kind === "file") seen.push(Buffer.from(part.bytes ?? []).toString());
        return model.stream(request);
      },
    },
  });
  await using served = new Served(agent);
  await served.create("s");
  const uploaded = await served.millrace.fetch(
    new Request("http://localhost/v1/sessions/s/blobs", {
      method: "POST",
      headers: { authorization: "Bearer ann", "content-type": "image/png" },
      body: Buffer.from("pixels"),
    }),
  );
  const { hash, size } = (await uploaded.json()) as {
    readonly hash: string;
    readonly size: number;
  }; // of the route's shape
  const parts = [{ kind: "file", name: "a.png", mediaType: "image/png", blob: { hash, size } }];
  const answer = await served.request("/v1/sessions/s/inputs", {
    body: { kind: "prompt", parts },
    key: newKey(),
    headers: { prefer: "wait=10" },
  });

  expect(await answer.json()).toMatchObject({ outcome: "completed" });
  expect(seen).toEqual(["pixels"]);
});
