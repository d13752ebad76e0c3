import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent } from "@millrace/agent";

/** Answers in no hurry, so that there is time to kill its process. */
export const agent = defineAgent({
  async *respond() {
    for (const word of "This answer takes about two seconds of your time.".split(" ")) {
      await sleep(200);
      yield { op: "append_text", partId: "answer", chunk: `${word} ` };
    }
  },
});
