import { openAsBlob } from "node:fs";
import { z } from "zod";
import { packer as agent } from "./agent.ts";

const photo = await openAsBlob(process.argv[2] ?? "receipt.png", { type: "image/png" });
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const { signal } = stop;

// #region run
const Receipt = z.object({ total: z.number(), currency: z.string() });
const run = agent.run(["What does this come to?", photo], {
  output: Receipt,
  limits: { turns: 5, tokens: 50_000, seconds: 60 },
  signal,
});
const result = await run.result;
if (result.outcome === "completed") console.log(result.output.total, result.output.currency); // validated
else console.error(result.outcome, result.text); // aborted, limited or failed, and what came
// #endregion
