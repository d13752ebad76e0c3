// Starts the server. Without API_KEY it serves this machine alone, with the token in ~/.millrace/token.
import { closeOnSignals, serve } from "./serve.ts";
import { withKey } from "./with-key.ts";

const { API_KEY, HOST, PORT = "3000" } = process.env;
if (HOST && !API_KEY) throw new Error("HOST opens it to others: set API_KEY too");

const server = await serve({
  authenticate: API_KEY ? withKey(API_KEY) : undefined,
  host: HOST || undefined,
  port: Number(PORT),
});
console.log(`${server.url}/agent`);
closeOnSignals(server.close);
