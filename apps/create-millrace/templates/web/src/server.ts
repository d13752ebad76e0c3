// Starts the server: the page, and the sessions of the agent below /agent.
import { guest } from "./guests.ts";
import { servePage } from "./serve-page.ts";
import { closeOnSignals, serve } from "./serve.ts";

const { HOST, HOSTS = "localhost", PORT = "3000" } = process.env;

const server = await serve({
  authenticate: ({ headers }) => {
    const user = guest(headers.get("cookie"));
    return user === undefined ? undefined : { tenant: "default", user };
  },
  // By a name that somebody else points to this machine nothing is served.
  hosts: ["127.0.0.1", ...HOSTS.split(",")],
  host: HOST || undefined,
  port: Number(PORT),
  page: servePage,
});
console.log(server.url);
closeOnSignals(server.close);
