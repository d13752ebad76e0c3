// A real worker names a model of a vendor here. This one hands over, calls a tool, and writes for two seconds.
import type { Model } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";

const answer = "Pack a raincoat, and boots for the hills. ".repeat(20);

export const model: Model = {
  id: "demo",
  stream: (request) => {
    const offered = (name: string): boolean =>
      request.tools?.some((tool) => tool.name === name) === true;
    const isAnswered = request.transcript.at(-1)?.author === "tool";
    const reply = offered("transfer_to_packer")
      ? [call("transfer_to_packer", {})]
      : isAnswered &&
          request.transcript.some(({ parts }) =>
            parts.some((part) => "text" in part && part.text.startsWith("rain")),
          )
        ? [say(answer)]
        : [call("weather", { city: "Oslo" })];
    return scriptedModel([reply], { delayMs: 10, chunk: [4] }).stream(request);
  },
};
