import { describe, expect, test } from "vitest";
import { decode, plainContext } from "../../testing/decode.ts";
import { bytesOf, framingOf } from "../../testing/fixtures.ts";
import { testFixtures } from "../../testing/golden.ts";
import { bedrockConverseProtocol } from "./protocol.ts";

const named = (group: string, names: string): readonly string[] =>
  names.split(" ").map((name) => `${group}:${name}`);

// The shapes of the fixtures are those of @aws-sdk/client-bedrock-runtime 3.1162.0, in
// dist-types/models/models_0.d.ts and enums.d.ts, and the names of exceptions those of errors.d.ts.
testFixtures(bedrockConverseProtocol, [
  ...Array.from({ length: 13 }, (_, at) => `B${at + 1}`).filter((row) => row !== "B11"),
  ...named("event", "messageStart contentBlockStart contentBlockDelta contentBlockStop"),
  ...named("event", "messageStop metadata"),
  ...named("start", "toolUse toolResult image"),
  ...named("delta", "text toolUse toolResult citation image reasoningContent.text"),
  ...named("delta", "reasoningContent.signature reasoningContent.redactedContent"),
  ...named("stop", "end_turn tool_use max_tokens stop_sequence guardrail_intervened"),
  ...named("stop", "content_filtered malformed_model_output malformed_tool_use"),
  ...named("stop", "model_context_window_exceeded"),
  ...named("exception", "internalServerException modelStreamErrorException"),
  ...named("exception", "serviceUnavailableException throttlingException validationException"),
]);

describe("a reply of ConverseStream", () => {
  test("gets another id for a call when the transcript has the vendor's already", () => {
    const context = { ...plainContext, takenCallIds: new Set(["tooluse_Kx1"]) };
    const bytes = bytesOf(bedrockConverseProtocol.id, "call");

    const { draft } = decode(
      bedrockConverseProtocol,
      framingOf(bedrockConverseProtocol.id),
      [bytes],
      { context },
    );

    const ids = draft.parts.flatMap((part) =>
      part.state === "committed" && part.part.kind === "tool_call" ? [part.part.callId] : [],
    );
    expect(ids).toEqual(["tooluse_Kx1_2"]);
  });

  test("fails with more blocks than a reply has", () => {
    let state = bedrockConverseProtocol.initial(plainContext);
    let failed: string | undefined;
    for (let at = 0; at <= 1_000 && failed === undefined; at += 1) {
      for (const [name, delta] of [
        ["contentBlockDelta", { text: "a" }],
        ["contentBlockStop"],
      ] as const) {
        const data = { contentBlockIndex: at, ...(delta === undefined ? {} : { delta }) };
        const next = bedrockConverseProtocol.step(state, { name, data });
        failed ??= next.failure?.code;
        state = next.state;
      }
    }

    expect(failed).toBe("too_many_parts");
  });
});
