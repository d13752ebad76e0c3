/**
 * Compiles the requests of 300 transcripts against the types of the vendors' own SDKs, in one run of the
 * compiler. The transcripts are those of `packages/providers/src/given.test.ts`: every kind of part,
 * file and tool. What a vendor refuses is left out, as a caller would leave it out.
 *
 *     npm run request-types    installs the SDKs, writes the requests beside them, and compiles them
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@millrace/core";
import { fileURLToPath } from "node:url";
import { sendMarked } from "../packages/providers/src/testing/given/send.ts";
import { markedRequest } from "../packages/providers/src/testing/given/request.ts";
import { targets } from "../packages/providers/src/testing/targets.ts";

const count = 300;
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "differential/node_modules/.requests");

/** The type that the vendor's SDK has for the body of a streamed request. */
const types: Readonly<Record<string, string>> = {
  "openai-chat":
    'import type { ChatCompletionCreateParamsStreaming as Body } from "openai/resources/chat/completions";',
  "openai-responses":
    'import type { ResponseCreateParamsStreaming as Body } from "openai/resources/responses/responses";',
  "anthropic-messages":
    'import type { MessageCreateParamsStreaming as Body } from "@anthropic-ai/sdk/resources/messages";',
  // This SDK arranges the fields of a body in another way than the wire. Their types are the same.
  gemini: `import type { Content, GenerationConfig, Tool } from "@google/genai";
interface Body { contents: Content[]; tools?: Tool[]; systemInstruction?: Content; generationConfig?: GenerationConfig }`,
  // The model is in the path. This SDK has bytes where the wire has base64.
  "bedrock-converse": `import type { ConverseStreamCommandInput } from "@aws-sdk/client-bedrock-runtime";
type Body = Omit<ConverseStreamCommandInput, "modelId">;
declare const blob: Uint8Array;`,
};

/** The body as a literal of the SDK's type. */
function literalOf(protocol: string, body: JsonObject): string {
  const text = JSON.stringify(body);
  if (protocol !== "bedrock-converse") return text;
  return text.replaceAll(/"(bytes|redactedContent)":"[A-Za-z0-9+/=]*"/g, '"$1":blob');
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
let requests = 0;
// One model of each protocol.
const first = targets.filter(
  ({ protocol }, at) => targets.findIndex((other) => other.protocol === protocol) === at,
);
for (const target of first.filter(({ protocol }) => types[protocol] !== undefined)) {
  const bodies = Array.from({ length: count }, (_, at) => {
    const { body } = sendMarked(target, markedRequest(at + 1).request);
    requests += 1;
    return `export const seed${at + 1}: Body = ${literalOf(target.protocol, body)};`;
  });
  writeFileSync(
    join(folder, `${target.protocol}.ts`),
    [types[target.protocol], ...bodies, ""].join("\n"),
  );
}
const compilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: "nodenext",
  target: "es2024",
  lib: ["es2025", "dom", "dom.iterable"],
  types: [],
};
writeFileSync(
  join(folder, "tsconfig.json"),
  JSON.stringify({ compilerOptions, files: Object.keys(types).map((name) => `${name}.ts`) }),
);

const tsc = join(root, "node_modules/tsc7/bin/tsc");
const begin = performance.now();
const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", folder], {
  encoding: "utf8",
});
const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
const faults = stdout.split("\n").filter((line) => line.includes(": error TS"));
for (const fault of faults.slice(0, 20)) console.error(fault);
if (status !== 0 && faults.length === 0) console.error(stdout, stderr);
console.log(
  `count: requests have the SDKs' types, ${requests} requests, ${seconds} s to compile, ${faults.length} failures`,
);
process.exit(status === 0 ? 0 : 1);
