import { defineAgent } from "@millrace/agent";
import { expect, test } from "vitest";
import { clientOf } from "./kit/openai.ts";
import { Served } from "./kit/served.ts";

/** A server whose agent shows a text, and stores another one in its place once that was read. */
function replacing(): { readonly server: Served; readonly read: () => void } {
  const shown = Promise.withResolvers<undefined>();
  const agent = defineAgent({
    respond: async (run) => {
      await run.write(async (item) => {
        item.append("A draft of it");
        await shown.promise;
        await item.replace("The final words");
      });
    },
  });
  return { server: new Served(agent), read: () => shown.resolve(undefined) };
}

test("a reader of Responses that was shown a text in the place of which another is stored reads it anew", async () => {
  const { server, read } = replacing();
  await using _ = server;
  const client = clientOf(server);
  const stream = await client.responses.create({ input: "Go", stream: true });
  let [id, text, last] = ["", "", 0];
  const reading = async (): Promise<void> => {
    for await (const event of stream) {
      last = event.sequence_number;
      if (event.type === "response.created") ({ id } = event.response);
      if (event.type !== "response.output_text.delta") continue;
      text += event.delta;
      if (text === "A draft of it") read();
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: "begun_again" });
  expect(text).toBe("A draft of it");

  const whole = await client.responses.stream({ response_id: id }).finalResponse();
  expect(whole.output_text).toBe("The final words");
  // One that was cut before it was refused is refused when it comes back.
  const rest = await client.responses.retrieve(id, { stream: true, starting_after: last });
  await expect(rest[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "begun_again" });
});

test("a reader of a completion that was shown a text in the place of which another is stored is told so", async () => {
  const { server, read } = replacing();
  await using _ = server;
  const messages = [{ role: "user", content: "Go" }] as const;
  const stream = clientOf(server).chat.completions.stream({
    model: "agent",
    messages: [...messages],
  });
  let text = "";
  stream.on("content", (delta) => {
    text += delta;
    if (text === "A draft of it") read();
  });

  await expect(stream.finalChatCompletion()).rejects.toMatchObject({ code: "begun_again" });
  expect(text).toBe("A draft of it");
});
