/**
 * Compiles requests against the types of the vendors' own SDKs, in one run of the compiler: those of 300
 * transcripts, and one for each setting, value and model, and each option of a part. The transcripts are
 * those of `packages/providers/src/given.test.ts`: every kind of part, file and tool. What a vendor refuses
 * is left out, as a caller would leave it out.
 *
 *     npm run request-types    installs the SDKs, writes the requests beside them, and compiles them
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { itemId } from "@millrace/core/writing";
import type { Item, JsonObject, Part } from "@millrace/core";
import { RequestRefusal } from "../packages/providers/src/protocols/refusal.ts";
import { settingNames } from "../packages/providers/src/protocols/settings.ts";
import { sendMarked } from "../packages/providers/src/testing/given/send.ts";
import { markedRequest } from "../packages/providers/src/testing/given/request.ts";
import {
  settingsTargets,
  settingValues,
} from "../packages/providers/src/testing/settings/cases.ts";
import { bodyWith } from "../packages/providers/src/testing/settings/outcome.ts";
import { partCases } from "../packages/providers/src/testing/settings/part-cases.ts";
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
  // This SDK has no sampling settings any more. Models before Claude 4.7 take them.
  // What becomes of thinking bound to another beginning is a beta, so that only the types of betas have it.
  "anthropic-messages": `import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { BetaThinkingConfigParam as Thinking } from "@anthropic-ai/sdk/resources/beta/messages";
type Body = Omit<MessageCreateParamsStreaming, "thinking"> & { thinking?: Thinking; temperature?: number; top_p?: number };`,
  // This SDK arranges the fields of a body in another way than the wire. Their types are the same, but
  // enums, which are words on the wire.
  gemini: `import type { Content, GenerationConfig, ServiceTier, Tool, ToolConfig } from "@google/genai";
type Wire<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;
type Body = Wire<{ contents: Content[]; tools?: Tool[]; systemInstruction?: Content; generationConfig?: GenerationConfig; toolConfig?: ToolConfig; serviceTier?: ServiceTier; labels?: Record<string, string> }>;`,
  // The model is in the path. This SDK has bytes where the wire has base64.
  "bedrock-converse": `import type { ConverseStreamCommandInput } from "@aws-sdk/client-bedrock-runtime";
type Body = Omit<ConverseStreamCommandInput, "modelId">;
declare const blob: Uint8Array;`,
};

/** A body for each setting and option that the vendor takes. */
function settingBodies(protocol: string): readonly string[] {
  const target = settingsTargets.find(({ name }) => name === protocol);
  if (target === undefined) throw new Error(`no settings for ${protocol}`);
  const settings = target.models.flatMap((model) =>
    settingNames.flatMap((name) =>
      settingValues[name].flatMap((value) =>
        unlessRefused(() => bodyWith(target, model, { [name]: value })),
      ),
    ),
  );
  const parts = partCases
    .filter(({ name }) => name === protocol)
    .flatMap(({ model, part, options }) => {
      const marked = { ...part, metadata: { options } } as Part;
      const item: Item = { id: itemId("i1"), author: "user", parts: [marked], stop: "end" };
      return unlessRefused(() => target.protocol.request({ transcript: [item] }, { model }).body);
    });
  return [...new Set([...settings, ...parts].map((body) => literalOf(protocol, body)))];
}

function unlessRefused(build: () => JsonObject): readonly JsonObject[] {
  try {
    return [build()];
  } catch (error) {
    if (error instanceof RequestRefusal) return [];
    throw error;
  }
}

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
  const settings = settingBodies(target.protocol);
  requests += settings.length;
  bodies.push(...settings.map((body, at) => `export const setting${at + 1}: Body = ${body};`));
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
