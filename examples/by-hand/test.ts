// Runs the example twice, as its user does: without a key, and with one against a local vendor that
// sends Anthropic's bytes.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startVendorServer } from "@millrace/providers/testing";

async function run(env: NodeJS.ProcessEnv): Promise<string> {
  const main = new URL("main.ts", import.meta.url).pathname;
  const options = { env: { PATH: process.env["PATH"], ...env } };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@millrace/source", main],
    options,
  );
  assert.equal(stderr, "");
  return stdout;
}

const expected = '[weather {"city":"Oslo"}]\nTake a warm coat.\n';
assert.equal(await run({}), expected);

function reply(stop: string, block: object, ...deltas: readonly object[]): string {
  const usage = { input_tokens: 9, output_tokens: 1 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [],
    model: "m",
    usage,
  };
  const events: readonly object[] = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

const tool = { type: "tool_use", id: "toolu_1", name: "weather", input: {} };
const piece = (partial_json: string): object => ({ type: "input_json_delta", partial_json });
const word = (text: string): object => ({ type: "text_delta", text });
await using server = await startVendorServer({
  replies: [
    { body: reply("tool_use", tool, piece('{"city":'), piece('"Oslo"}')), chunks: "byte" },
    { body: reply("end_turn", { type: "text", text: "" }, word("Take a "), word("warm coat.\n")) },
  ],
});
assert.equal(await run({ ANTHROPIC_API_KEY: "k", BASE_URL: server.url }), expected);
const [first, second] = server.requests.map(({ json }) => json as { messages: unknown[] });
assert.deepEqual([first?.messages.length, second?.messages.length], [1, 3]);
console.log("with and without a key the example says the same");
