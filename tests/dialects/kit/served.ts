import { agUi } from "@millrace/dialects/ag-ui";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { openai } from "@millrace/dialects/openai";
import type { Agent } from "@millrace/agent";
import type { MillraceOptions } from "@millrace/server";
import type { Dialect } from "@millrace/server/dialect";
import { Served as PlainServed } from "../../../packages/server/src/testing/served.ts";

export type { SentRequest } from "../../../packages/server/src/testing/served.ts";

/** All dialects of this repository. */
export const allDialects: readonly Dialect[] = [agUi(), aiSdk(), openai()];

/** A server in memory that serves all dialects. */
export class Served extends PlainServed {
  constructor(agent?: Agent, options: Partial<MillraceOptions> = {}) {
    super(agent, { dialects: allDialects, ...options });
  }
}
