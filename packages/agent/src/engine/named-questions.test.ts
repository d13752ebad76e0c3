import { approvalId, callId } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { emptyStanding } from "../loop/state.ts";
import { withNamedQuestions } from "./named-questions.ts";

const [asked, other] = ["a".repeat(64), "b".repeat(64)];
const [id, call] = [approvalId("approval_1"), callId("call_1")];

test.each([
  ["the input that was asked about", asked, id],
  ["another input", other, ""],
])("an answer about %s is told from others without its hash", (_, hash, named) => {
  const outlines = [
    {
      n: 1,
      type: "approval_requested",
      approvalId: id,
      callId: call,
      hash: asked,
      time: 1,
    },
    { n: 2, type: "approval_resolved", approvalId: id, decision: "allow", hash, time: 2 },
  ] as const;
  const answer = { outcome: "stepped", head: 2, outlines, memory: {}, now: 3 } as const;

  const { outlines: told } = withNamedQuestions(answer, emptyStanding);

  expect(told).toMatchObject([{ hash: id }, { hash: named, decision: "allow" }]);
});
