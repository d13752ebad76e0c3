// Bare Node.
import { createServer } from "node:http";
import { millrace } from "./millrace.ts";

// #region mount
const server = createServer(millrace.node).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void millrace.close().then(() => server.close())); // drains
// #endregion
server.on("listening", () => console.log(server.address()));
