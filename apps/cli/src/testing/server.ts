// A server of sessions, as a process of its own: the model plays a script, the tools are those of the command.
//
//     node server.ts <port> <folder> <script>
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent } from "@millrace/agent";
import { systemClock } from "@millrace/core/memory";
import { createMillrace } from "@millrace/server";
import { fileStore } from "@millrace/stores/file";
import { createModel } from "../model/create-model.ts";
import { chooseModel } from "../model/choose-model.ts";
import { createTools } from "../tools/tools.ts";

const [port = "0", folder = "", script = ""] = process.argv.slice(2);
const choice = chooseModel(script, {}, { remembered: undefined, ownFolder: false });
if (choice.kind === "problem") throw new Error(choice.problem);
const millrace = createMillrace({
  agent: defineAgent({
    model: await createModel(choice),
    tools: createTools(["time", "shell"], { clock: systemClock, cwd: folder }),
  }),
  store: fileStore(`${folder}/served`),
  secret: "both lives of this server have it",
  authenticate: ({ headers }) =>
    headers.get("authorization") === "Bearer ann" ? { tenant: "default", user: "ann" } : undefined,
});
const server = createServer(millrace.node).listen(Number(port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens
});
