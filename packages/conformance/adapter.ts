/**
 * Our implementation behind stdin and stdout: one vector in, one answer out, each a line of JSON.
 * The protocol is in vectors/README.md; this file is an example of how to speak it.
 *
 *     node --conditions=@millrace/source packages/conformance/adapter.ts
 */
import type { Json } from "@millrace/core";
import { readLines } from "./src/vectors/lines.ts";
import { ourImplementation } from "./src/vectors/our-implementation.ts";

/** What the runner sends. */
interface Question {
  readonly id: number;
  readonly suite: string;
  readonly input: Json;
}

const implementation = ourImplementation();

for await (const line of readLines(process.stdin)) {
  const { id, suite, input } = JSON.parse(line) as Question;
  const answer = await implementation.answer(suite, input).then(
    (output) => ({ id, output }),
    (error: unknown) => ({ id, error: error instanceof Error ? error.message : String(error) }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
