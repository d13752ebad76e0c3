// A real worker names a model of a vendor here. This one calls a tool, and then writes for two seconds.
import type { Model } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";

const answer = "Pack a raincoat, and boots for the hills. ".repeat(20);

export const model: Model = {
  id: "demo",
  stream: (request) => {
    const isAnswered = request.transcript.at(-1)?.author === "tool";
    const reply = isAnswered ? [say(answer)] : [call("weather", { city: "Oslo" })];
    return scriptedModel([reply], { delayMs: 10, chunk: [4] }).stream(request);
  },
};
