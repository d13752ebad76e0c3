import type { Client, RequestOptions, StandardSchemaV1 } from "@modelcontextprotocol/client";

import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";

/** Takes whatever comes. The client's own schema refuses the whole list for one bad tool. */
const anything: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "millrace", validate: (value) => ({ value }) },
};

/** More is refused: no model chooses well among so many, and a list without end must end. */
const mostTools = 500;
const mostPages = 50;

export interface ListedTools {
  readonly tools: readonly JsonObject[];
  /** Why the list is not whole, if it isn't. */
  readonly cut: string | undefined;
}

/** Requests a server's tools, page by page. Their descriptions are checked later, one by one. */
export async function listTools(client: Client, options: RequestOptions): Promise<ListedTools> {
  const tools: JsonObject[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const answer = await client.request({ method: "tools/list", ...params }, anything, options);
    if (!isJsonObject(answer) || !Array.isArray(answer["tools"])) {
      throw new Error("the server's list of tools is no list");
    }
    for (const tool of answer["tools"] as readonly unknown[]) {
      if (tools.length === mostTools)
        return { tools, cut: `it lists more than ${mostTools} tools` };
      // What is no object has no name either, and is refused for that.
      tools.push(isJsonObject(tool) ? tool : {});
    }
    const next = answer["nextCursor"];
    if (typeof next !== "string") return { tools, cut: undefined };
    if (cursors.has(next)) return { tools, cut: "its list of tools goes in a circle" };
    cursors.add(next);
    cursor = next;
  }
  return { tools, cut: `its list of tools has more than ${mostPages} pages` };
}
