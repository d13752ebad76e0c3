import type { ModelRequest } from "@millrace/core/ports";
import { brokenLaws } from "../../../packages/providers/src/testing/request-laws.ts";
import { targets } from "../../../packages/providers/src/testing/targets.ts";
import type { NativeTarget } from "../../../packages/providers/src/testing/targets.ts";

export type Dialect = NativeTarget;

/** One model of each protocol. */
export const dialects: readonly Dialect[] = targets.filter(
  ({ protocol }, at) => targets.findLastIndex((other) => other.protocol === protocol) === at,
);

/** What a vendor would refuse in the request, and what of a transcript is lost in it. */
export function refusedBy(request: ModelRequest): readonly string[] {
  const { signal: _, notify: __, ...plain } = request;
  return dialects.flatMap((target) =>
    brokenLaws(target, plain).map((law) => `${target.protocol}: ${law}`),
  );
}
