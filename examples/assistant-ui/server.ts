// Serves the page and the guide's sessions. `npm start -w examples/assistant-ui`
import { createServer } from "node:http";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { createMillrace } from "@millrace/server";
import { createServer as createVite, defaultClientConditions } from "vite";
import { guideModel, guideWith } from "./agent.ts";

// A real application knows its users. Here a browser is one, by a cookie that only this server reads.
const cookie = /(?:^|; )guest=([\w-]{36})(?:;|$)/;

const millrace = createMillrace({
  agent: guideWith(guideModel()),
  basePath: "/agent",
  dialects: [aiSdk()],
  hosts: ["127.0.0.1", "localhost"],
  authenticate: ({ headers }) => {
    const user = cookie.exec(headers.get("cookie") ?? "")?.[1];
    return user === undefined ? undefined : { tenant: "chat", user };
  },
});

const server = createServer();
const vite = await createVite({
  root: import.meta.dirname,
  configFile: false,
  logLevel: "warn",
  resolve: { conditions: ["@millrace/source", ...defaultClientConditions] },
  server: { middlewareMode: true, hmr: { server } },
});
server.on("request", (request, response) => {
  if (request.url?.startsWith("/agent/") === true) return millrace.node(request, response);
  if (!cookie.test(request.headers.cookie ?? "")) {
    const guest = `guest=${crypto.randomUUID()}; Path=/; HttpOnly; SameSite=Strict`;
    if (request.headers["sec-fetch-dest"] === "document") response.setHeader("set-cookie", guest);
  }
  vite.middlewares(request, response);
});
server.listen(Number(process.env["PORT"] ?? 5174), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}`);
});
process.once("SIGTERM", () => void millrace.close().then(() => process.exit(0)));
