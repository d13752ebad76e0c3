// Starts the server: the page, and the sessions of the agent below /agent.
import { servePage } from "./serve-page.ts";
import { closeOnSignals, serve } from "./serve.ts";
import { openSignIn } from "./sign-in.ts";

const { HOST, HOSTS, PORT = "3000" } = process.env;

const server = await serve({
  signIn: openSignIn(),
  // By a name that somebody else points to this machine nothing is served.
  hosts: ["127.0.0.1", ...(HOSTS || "localhost").split(",")],
  host: HOST || undefined,
  port: Number(PORT),
  page: servePage,
});
console.log(server.url);
closeOnSignals(server.close);
