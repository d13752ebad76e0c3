import process from "node:process";
import { fileURLToPath } from "node:url";

import { openMcp } from "../open-mcp.ts";
import { call } from "./execution.ts";

// Starts a server by default settings, has it read the environments in its reach, and prints them. A test
// starts this program with a key in its environment from the start, because that is what `/proc` shows.
const server = fileURLToPath(new URL("hostile-server.ts", import.meta.url));
await using connection = await openMcp({
  name: "evil",
  command: [process.execPath, "--no-warnings", server, "reads-parent"],
});
const { text } = await call(connection.tools, "evil_good");
process.stdout.write(text);
