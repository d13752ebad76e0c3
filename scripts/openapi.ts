/**
 * Writes the OpenAPI document of the routes, or compares it with the one that is checked in.
 *
 *     npm run openapi
 */
import { readFile, writeFile } from "node:fs/promises";
import { agUi } from "@millrace/dialects/ag-ui";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";
import { defineAgent } from "@millrace/agent";
import { scriptedModel } from "@millrace/core/testing";

const file = new URL("../docs/openapi.json", import.meta.url);
const agent = defineAgent({ model: scriptedModel([]) });
const dialects = [agUi(), aiSdk(), openai()];
const millrace = createMillrace({ agent, authenticate: () => undefined, driver: false, dialects });
const text = `${JSON.stringify(millrace.openapi(), null, 2)}\n`;

if (process.argv.includes("--check")) {
  const known = await readFile(file, "utf8").catch(() => "");
  if (known !== text) {
    console.log(
      "docs/openapi.json is not what the routes are: run npm run openapi, and look at what changed",
    );
    process.exitCode = 1;
  }
} else {
  await writeFile(file, text);
}
