// Hono; in the same way Bun, Deno and workers.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { millrace } from "./millrace.ts";

const app = new Hono();
// #region mount
app.mount("/agent", millrace.fetch);
// #endregion
const port = Number(process.env["PORT"] ?? 3000);
serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, (address) => console.log(address));
