// A script that plays the model, so that everything runs without a key. Tests use it too.
import type { Model } from "@millrace/core";
import { call, say, scriptedModel, think } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";

type Transcript = Parameters<Model["stream"]>[0]["transcript"];

/** The reply to the last item of a transcript. */
function replyTo(transcript: Transcript): readonly ScriptedPart[] {
  const last = transcript.at(-1)?.parts[0];
  if (last?.kind === "tool_result") {
    if (last.status !== "ok") return [say("I left it as it is: nothing was paid back.")];
    return [say("Done. 89.00 € are on their way back to you, and I am sorry for the trouble.")];
  }
  if (last?.kind === "text" && /refund|broken|A-1042/i.test(last.text))
    return [
      think("The lamp arrived broken, so order A-1042 is refunded in full: 8900 cents."),
      say("I am sorry about the lamp. I'll give you the 89.00 € back; a colleague has to agree."),
      call("refund", { order: "A-1042", cents: 8_900, reason: "arrived broken" }),
    ];
  return [
    say(
      "Hello! This is a script that plays the model, so no key is needed. Every word of it is streamed, " +
        "stored and shown in each window that watches: reload while I write, or open a second one. " +
        "Then write “My lamp arrived broken” to see a tool that asks before it runs.",
    ),
  ];
}

export const demo: Model = {
  id: "demo",
  stream: (request) => {
    const options = { id: "demo", delayMs: 25, chunk: [4, 7, 3, 6, 5] };
    return scriptedModel([({ transcript }) => replyTo(transcript)], options).stream(request);
  },
};
