import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** One response of a server that imitates a vendor. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: readonly string[];
  /** What follows the body: its end, silence, or a broken connection. `mute`: not even a head. */
  readonly last?: "end" | "silence" | "break" | "mute";
}

export interface BridgeServer extends AsyncDisposable {
  readonly url: string;
  /** Bodies of the requests, parsed. */
  readonly requests: readonly Record<string, unknown>[];
  /** Settles when a client disconnects before its response is complete. */
  readonly left: Promise<void>;
}

/** Answers the requests in turn; the last answer serves all later ones. */
export async function bridgeServer(answers: readonly Answer[]): Promise<BridgeServer> {
  const requests: Record<string, unknown>[] = [];
  const left = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      requests.push(JSON.parse(text) as Record<string, unknown>);
      const answer = answers[Math.min(requests.length, answers.length) - 1];
      const { status = 200, headers = {}, body, last = "end" } = answer ?? { body: [] };
      response.on("close", () => {
        if (!response.writableFinished) left.resolve();
      });
      if (last === "mute") return;
      response.writeHead(status, { "content-type": "text/event-stream", ...headers });
      for (const piece of body) response.write(piece);
      if (last === "end") response.end();
      else if (last === "break") setTimeout(() => response.destroy(), 20);
      else response.flushHeaders();
    });
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    left: left.promise,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An answer of a chat completions API. A delta is what stands in `choices[0].delta`. */
export function chatAnswer(
  deltas: readonly object[],
  finish: string | undefined,
  usage?: object,
): Answer {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "tiny-1" };
  const choice = (delta: object, reason: string | null): object => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const chunks = [
    ...deltas.map((delta) => choice(delta, null)),
    ...(finish === undefined ? [] : [choice({}, finish)]),
    ...(usage === undefined ? [] : [{ ...head, choices: [], usage }]),
  ];
  return { body: [...chunks.map((chunk) => line(chunk)), "data: [DONE]\n\n"] };
}

/** An answer of the messages API. */
export function messagesAnswer(
  blocks: readonly { readonly start: object; readonly deltas: readonly object[] }[],
  stop: string | undefined,
): Answer {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 90,
    cache_creation_input_tokens: 5,
    output_tokens: 1,
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "tiny-2", content: [] };
  const events: { readonly type: string; readonly [field: string]: unknown }[] = [
    {
      type: "message_start",
      message: { ...message, stop_reason: null, stop_sequence: null, usage },
    },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
  ];
  if (stop !== undefined) {
    const delta = { stop_reason: stop, stop_sequence: null };
    events.push({ type: "message_delta", delta, usage: { output_tokens: 7 } });
    events.push({ type: "message_stop" });
  }
  return { body: events.map((event) => `event: ${event.type}\n${line(event)}`) };
}

function line(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
