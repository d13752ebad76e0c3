// A provider without a network: it sends what its script says, the arguments of the call in two pieces.
import { callId, partId } from "@millrace/core/writing";
import type { Model } from "@millrace/core";
import { emit, say, scriptedModel } from "@millrace/core/testing";

export function fauxProvider(): Model {
  const id = partId("call");
  const head = { kind: "tool_call", callId: callId("call_1"), tool: "read" } as const;
  const input = { path: "src/config.ts" };
  const raw = '{"path":"src/config.ts"}';
  return scriptedModel(
    [
      [
        say("Let me check the configuration file first."),
        emit(
          { op: "begin_part", partId: id, ...head },
          { op: "append_text", partId: id, chunk: raw.slice(0, 8) },
          { op: "append_text", partId: id, chunk: raw.slice(8) },
          { op: "commit_part", partId: id, part: { ...head, id, raw, input } },
        ),
        { end: { stop: "tools", evidence: "tool_use" } },
      ],
      [say("The port is 3000.")],
    ],
    { chunk: "whole" },
  );
}
