// Fastify 5, with its raw request and reply.
import Fastify from "fastify";
import { millrace } from "./millrace.ts";

const app = Fastify();
// #region mount
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", (_request, _payload, done) => done(null)); // the handler reads the body
app.all("/agent/*", (request, reply) => {
  reply.hijack();
  request.raw.url = (request.raw.url ?? "").slice("/agent".length);
  millrace.node(request.raw, reply.raw);
});
// #endregion
await app.listen({ port: Number(process.env["PORT"] ?? 3000), host: "127.0.0.1" });
console.log(app.server.address());
