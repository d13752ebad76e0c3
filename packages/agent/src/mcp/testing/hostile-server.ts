// A server of tools that behaves as its first argument says: raw JSON-RPC on standard input and
// output. Started as a process, never imported.
import process from "node:process";
import { createInterface } from "node:readline";

import { behaviours, received, text, write } from "./hostile-behaviours.ts";
import type { Message } from "./hostile-behaviours.ts";

const behaviour = behaviours[process.argv[2] ?? ""] ?? {};
behaviour.start?.();

function answer(message: Message): unknown {
  switch (message.method) {
    case "initialize":
      return (
        behaviour.initialize ??
        (() => ({
          protocolVersion: "2025-06-18",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "hostile", version: "0" },
        }))
      )(message);
    case "tools/list":
      return (behaviour.list ?? (() => ({ tools: behaviour.tools ?? [] })))(message);
    case "tools/call":
      return (behaviour.call ?? (() => text("fine")))(message);
    default:
      return undefined;
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  // It is the client under test that wrote it.
  const message = JSON.parse(line) as Message;
  received.push(message);
  const result = answer(message);
  if (message.id !== undefined && result !== undefined)
    write({ jsonrpc: "2.0", id: message.id, result });
});
