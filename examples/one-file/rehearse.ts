// Runs a weather example twice, as its user does: without a key, and with one against a local vendor
// that sends Anthropic's bytes.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startVendorServer } from "@millrace/providers/testing";

/** Both runs must print the same. `urlName` is the variable with the vendor's address. */
export async function rehearse(main: URL, expected: string, urlName: string): Promise<void> {
  const run = async (env: NodeJS.ProcessEnv): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@millrace/source", main.pathname],
      { env: { PATH: process.env["PATH"], ...env } },
    );
    assert.equal(stderr, "");
    return stdout;
  };
  assert.equal(await run({}), expected);
  await using server = await startVendorServer({
    replies: [
      { body: reply("tool_use", tool, piece('{"city":'), piece('"Oslo"}')), chunks: "byte" },
      { body: reply("end_turn", text, word("Take a "), word("warm coat.\n")) },
    ],
  });
  assert.equal(await run({ ANTHROPIC_API_KEY: "k", [urlName]: server.url }), expected);
  const [first, second] = server.requests.map(({ json }) => json as { messages: unknown[] });
  assert.deepEqual([first?.messages.length, second?.messages.length], [1, 3]);
  console.log("with and without a key the example prints the same");
}

const tool = { type: "tool_use", id: "toolu_1", name: "weather", input: {} };
const text = { type: "text", text: "" };
const piece = (partial_json: string): object => ({ type: "input_json_delta", partial_json });
const word = (text: string): object => ({ type: "text_delta", text });

function reply(stop: string, block: object, ...deltas: readonly object[]): string {
  const usage = { input_tokens: 9, output_tokens: 1 };
  const head = { id: "msg_1", type: "message", role: "assistant", model: "m" };
  const events: readonly object[] = [
    { type: "message_start", message: { ...head, content: [], usage } },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
