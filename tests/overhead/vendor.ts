// A vendor in a process of its own, so that its work is not counted as ours: it prints its address,
// and answers every request with one long reply of many small deltas.
import { startVendorServer } from "@millrace/providers/testing";

const deltas = Number(process.argv[2] ?? 10_000);
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const usage = { input_tokens: 9, output_tokens: deltas };
const message = { id: "m", type: "message", role: "assistant", content: [], model: "m", usage };
const body = [
  event({ type: "message_start", message }),
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ...Array.from({ length: deltas }, (_, n) =>
    event({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: ` w${n % 97}` },
    }),
  ),
  event({ type: "content_block_stop", index: 0 }),
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }),
  event({ type: "message_stop" }),
].join("");

const server = await startVendorServer({ replies: () => ({ body }) });
process.stdout.write(`${server.url}\n`);
