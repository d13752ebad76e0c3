/** Whatever is given is in the request of each vendor, or the vendor is not asked and the refusal names it. */
import type { FilePart, MediaPart } from "@millrace/core";
import { expect, test } from "vitest";
import { runs } from "../../../tests/kit/runs.ts";
import { missingMarks } from "./testing/given/marks.ts";
import type { Mark } from "./testing/given/marks.ts";
import { markedRequest } from "./testing/given/request.ts";
import { sendMarked } from "./testing/given/send.ts";
import { isTaken } from "./testing/taken.ts";
import { targets } from "./testing/targets.ts";
import type { NativeTarget } from "./testing/targets.ts";

/** One target per request format. */
const formats = targets.slice(0, 4);

/** The vendor, the part and the way out are in the words of a refusal. */
function faultOf(
  target: NativeTarget,
  part: MediaPart | FilePart,
  message: string,
): readonly string[] {
  const vendor = { "openai-chat": "chat completions", "openai-responses": "Responses" }[
    target.protocol
  ];
  const names = [
    vendor ?? { "anthropic-messages": "Anthropic", gemini: "Gemini" }[target.protocol] ?? "",
    part.kind === "file" ? part.name : "media",
    part.mediaType,
  ];
  const lacks = names.filter((name) => !message.includes(name));
  const advice = /: (?:.*(?:pass|convert|leave it out|name their charset))/.test(message);
  const faults = [...lacks, ...(advice ? [] : ["what to do"])].map((each) => `lacks ${each}`);
  if (isTaken(target.protocol, part)) faults.push("is of what the vendor takes");
  return faults.map((fault) => `the refusal ${fault}: ${message}`);
}

test("0 of the parts of 300 transcripts vanish in any request format, and each request is valid", () => {
  const count = runs(300, 30_000, 300);
  const faults: string[] = [];
  let found = 0;
  let refusals = 0;
  for (let seed = 1; seed <= count; seed += 1) {
    const { request, marks } = markedRequest(seed);
    for (const target of formats) {
      const sent = sendMarked(target, request);
      const kept = marks.filter(
        (mark: Mark) => mark.part === undefined || !sent.refused.has(mark.part),
      );
      const missing = missingMarks(sent.body, kept);
      found += kept.length - missing.length;
      refusals += sent.refused.size;
      const place = `${target.protocol}, seed ${seed}: `;
      faults.push(
        ...missing.map(({ where }) => `${place}${where} vanished`),
        ...target.validate(sent.body, sent.request.transcript).map((fault) => place + fault),
        ...[...sent.refused].flatMap(([part, message]) =>
          faultOf(target, part, message).map((fault) => place + fault),
        ),
      );
    }
  }

  expect(faults.slice(0, 20)).toStrictEqual([]);
  console.log(
    `count: nothing given vanishes, ${count} transcripts x 5 formats, ${found} marks found, ${refusals} parts refused, 0 failures`,
  );
});
