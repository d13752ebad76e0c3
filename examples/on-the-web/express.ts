// Express 5. No body parser before it: the handler reads the body itself.
import express from "express";
import { millrace } from "./millrace.ts";

const app = express();
// #region mount
app.use("/agent", millrace.node);
// #endregion
const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
server.on("listening", () => console.log(server.address()));
