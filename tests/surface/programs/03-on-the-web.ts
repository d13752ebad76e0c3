// On the web.
import { createServer } from "node:http";
import { createMillrace, type Identity } from "@millrace/server";
import { agent } from "./01-one-file.ts";

declare function identify(request: Request): Identity | undefined;

export const millrace = createMillrace({
  agent, // or, for each user their own: (session) => agent.with({ instructions: rulesFor(session.user) })
  authenticate: (request) => identify(request), // { tenant, user } or nothing; nothing means no
});

createServer(millrace.node).listen(3000); // bare Node, Express; Fastify with its raw request and reply
process.once("SIGTERM", () => void millrace.close()); // drains
