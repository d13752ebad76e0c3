// An answer with a shape.
import { z } from "zod";
import { agent } from "./01-one-file.ts";

declare const photo: Blob;
declare const signal: AbortSignal | undefined;

const Receipt = z.object({ total: z.number(), currency: z.string() });
const run = agent.run(["What does this come to?", photo], {
  output: Receipt,
  limits: { turns: 5, tokens: 50_000, seconds: 60 },
  signal,
});
const result = await run.result;
if (result.outcome === "completed") console.log(result.output.total, result.output.currency);
else console.error(result.outcome, result.text); // aborted, limited or failed, and what came
