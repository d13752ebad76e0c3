import type { Json, JsonObject } from "@millrace/core";
import { answerArguments, answerCoalesce, answerFold, answerTranscript } from "./content-suites.ts";
import { record } from "./plain.ts";
import { answerApply, answerNarrate, answerProject, answerSteps } from "./session-suites.ts";
import type { Implementation } from "./vector.ts";
import { answerCodec, answerCursor, answerSse } from "./wire-suites.ts";

const suites: ReadonlyMap<string, (input: JsonObject) => Json> = new Map([
  ["fold", answerFold],
  ["coalesce", answerCoalesce],
  ["arguments", answerArguments],
  ["transcript", answerTranscript],
  ["apply", answerApply],
  ["project", answerProject],
  ["narrate", answerNarrate],
  ["cursor", answerCursor],
  ["codec", answerCodec],
  ["steps", answerSteps],
  ["sse", answerSse],
]);

/** The vectors answered by `@millrace/core`. */
export function ourImplementation(): Implementation {
  return {
    answer: async (suite, input) => {
      const answer = suites.get(suite);
      if (answer === undefined) throw new TypeError(`no suite is named ${suite}`);
      return answer(record(input));
    },
  };
}
