// The server of the chat: an agent with two tools, its sessions, and the page. Its model plays a script, so
// no key is needed; put a real one in its place, and the rest stays as it is.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { call, say, scriptedModel, think } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import type { Millrace } from "@millrace/server";
import { createServer as createVite, defaultClientConditions } from "vite";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather of a city, today",
  input: z.object({ city: z.string() }),
  effect: "pure",
  run: async ({ city }, { progress, signal }) => {
    progress({ message: `asking the station of ${city}` });
    await sleep(1_500, undefined, { signal });
    return { city, celsius: 4, sky: "light rain" };
  },
});

const book = defineTool({
  name: "book",
  description: "Books a room and pays for it",
  input: z.object({ hotel: z.string(), nights: z.int(), euros: z.int() }),
  approve: () => "ask",
  run: ({ hotel, nights }) => ({ reference: "OSL-4711", hotel, nights }),
});

const trip = `Oslo in two days, without a car.

Begin at the opera, whose roof is a square that slopes into the fjord: go up early, before the buses come. From there it is ten minutes on foot to the Munch museum, thirteen floors of one painter, and the café on the top floor has the better view.

In the afternoon take the tram to Frogner. The park is open all night and costs nothing; the bridge with its fifty-eight figures is best when the light is low. Walk back through the streets behind the palace.

On the second day take the boat from the city hall to Bygdøy. The polar ship Fram stands in a house that was built around it, and you may walk on its deck. If it rains, and in Oslo it may, stay longer: it is warm below.

Eat where the trams turn, at Grünerløkka. Book nothing; look for the place in which people laugh.`;

/** What the model replies to the last item of a transcript. */
function replyTo({ transcript }: Parameters<Model["stream"]>[0]): readonly ScriptedPart[] {
  const last = transcript.at(-1);
  const [part] = last?.parts ?? [];
  if (part?.kind === "tool_result") {
    if (part.status !== "ok") return [say("Then I leave it. Nothing was booked.")];
    if (part.tool === "book") return [say("It is booked. The reference is OSL-4711.")];
    return [say("Four degrees and light rain: take a raincoat, and shoes that may get wet.")];
  }
  const text = part?.kind === "text" ? part.text : "";
  if (/book|hotel|room/i.test(text))
    return [
      say("This one is near the station."),
      call("book", { hotel: "Grand", nights: 2, euros: 318 }),
    ];
  if (/weather|rain|pack/i.test(text))
    return [
      think("They ask about clothes, so I need the weather."),
      call("weather", { city: "Oslo" }),
    ];
  return [say(trip)];
}

const model = scriptedModel(replyTo, { delayMs: 25, chunk: [3, 6, 2, 5] });
const agent = defineAgent({ name: "guide", model, tools: [weather, book] });

// A real application knows its users. Here a browser is one, by a cookie that only this server reads.
const cookie = /(?:^|; )guest=([\w-]{36})(?:;|$)/;

export const millrace: Millrace<typeof agent> = createMillrace({
  agent,
  basePath: "/agent",
  // A name that somebody points to this machine is another host, and gets nothing.
  hosts: ["127.0.0.1", "localhost"],
  authenticate: ({ headers }) => {
    const user = cookie.exec(headers.get("cookie") ?? "")?.[1];
    return user === undefined ? undefined : { tenant: "chat", user };
  },
});

// What a model writes is shown as text. Should that ever fail, it still loads nothing and runs nothing.
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

const server = createServer();
const vite = await createVite({
  root: import.meta.dirname,
  configFile: false,
  logLevel: "warn",
  resolve: { conditions: ["@millrace/source", ...defaultClientConditions] },
  optimizeDeps: { include: ["react", "react-dom/client", "react/jsx-dev-runtime"] },
  server: { middlewareMode: true, hmr: { server } },
});
server.on("request", (request, response) => {
  if (request.url?.startsWith("/agent/") === true) return millrace.node(request, response);
  response.setHeader("content-security-policy", policy);
  if (!cookie.test(request.headers.cookie ?? "")) {
    const guest = `guest=${crypto.randomUUID()}; Path=/; HttpOnly; SameSite=Strict`;
    if (request.headers["sec-fetch-dest"] === "document") response.setHeader("set-cookie", guest);
  }
  vite.middlewares(request, response);
});
server.listen(Number(process.env["PORT"] ?? 5173), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}`);
});
process.once("SIGTERM", () => void millrace.close().then(() => process.exit(0)));
