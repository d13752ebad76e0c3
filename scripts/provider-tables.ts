/**
 * Makes sure that the tables of settings in docs/providers are what the protocols do. A page has a table
 * between two comments, as in check-tables.ts: `settings` is the overview, `settings:gemini` has what
 * one protocol does with each setting.
 *
 *     node --conditions=@millrace/source scripts/provider-tables.ts           fails if a table differs
 *     node --conditions=@millrace/source scripts/provider-tables.ts --write   refreshes the tables
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aiSdkSettings } from "../packages/bridges/src/ai-sdk-settings.ts";
import { compatibleServers } from "../packages/providers/src/compatible-servers.ts";
import type { CompatibleServer } from "../packages/providers/src/compatible-servers.ts";
import { aiSdkOptions } from "../packages/bridges/src/testing/ai-sdk-options.ts";
import { anthropicSettings } from "../packages/providers/src/protocols/anthropic-messages/settings.ts";
import { bedrockSettings } from "../packages/providers/src/protocols/bedrock-converse/settings.ts";
import { geminiSettings } from "../packages/providers/src/protocols/gemini/settings.ts";
import {
  compatibleSettings,
  openaiChatSettings,
} from "../packages/providers/src/protocols/openai-chat/settings.ts";
import { openaiResponsesSettings } from "../packages/providers/src/protocols/openai-responses/settings.ts";
import { settingNames } from "../packages/providers/src/protocols/settings.ts";
import type { SettingName, SettingRow, SettingsTable } from "../packages/providers/src/settings.ts";
import { type CheckedTables, type Row, type Tables, checkTables } from "./check-tables.ts";
import { report, root } from "./workspace.ts";

/** The columns of the overview, by the names of their own tables. */
const protocols: Readonly<Record<string, readonly [title: string, table: SettingsTable]>> = {
  "openai-responses": ["OpenAI Responses", openaiResponsesSettings],
  "openai-chat": ["OpenAI chat completions", openaiChatSettings],
  "openai-compatible": ["compatible servers", compatibleSettings()],
  "anthropic-messages": ["Anthropic Messages", anthropicSettings],
  gemini: ["Gemini", geminiSettings],
  "bedrock-converse": ["Bedrock Converse", bedrockSettings],
  "ai-sdk": ["AI SDK", aiSdkSettings("v4")],
};

const providerTables: Tables = {
  servers: () => [
    ["function", "address", "key", "quirks"],
    ...Object.entries(compatibleServers).map(([name, server]) => serverRow(name, server)),
  ],
  "ai-sdk-options": () => [
    ["AI SDK", "here", ""],
    ...aiSdkOptions.map(([name, { write, note = "" }]) => [code(name), write, note]),
  ],
  settings: () => [
    ["setting", ...Object.values(protocols).map(([title]) => title)],
    ...settingNames.map((name) => [
      code(name),
      ...Object.values(protocols).map(([, table]) => inShort(rowOf(table, name))),
    ]),
  ],
  ...Object.fromEntries(
    Object.entries(protocols).map(([id, [, table]]) => [
      `settings:${id}`,
      (): readonly Row[] => [
        ["setting", "becomes", "limits"],
        ...settingNames.map((name) => [code(name), ...inFull(rowOf(table, name))]),
      ],
    ]),
  ),
};

function serverRow(name: string, server: CompatibleServer): Row {
  const { baseUrl, variable, keyOptional, renamed = {}, refused = {}, reads = {} } = server;
  const notes = [
    ...Object.entries(renamed).map(([from, to]) => `${code(from)} is sent as ${code(to)}`),
    ...Object.entries(refused).map(([field, instead]) => `${code(field)} is refused: ${instead}`),
    ...(reads.thinkTags === undefined ? [] : ["reasoning is read from tags in the text"]),
    ...(reads.finishOptional === true ? ["replies may end with `[DONE]` alone"] : []),
  ];
  const key = keyOptional === true ? `${code(variable)}, if it is set` : code(variable);
  return [`[${code(name)}](${server.page})`, code(baseUrl), key, notes.join("; ")];
}

function rowOf({ rows }: SettingsTable, name: SettingName): SettingRow<never> {
  return rows[name];
}

function inShort(row: SettingRow<never>): string {
  return row.kind === "sent" ? fieldsOf(row.as) : row.kind === "inherent" ? "by itself" : "refused";
}

function inFull(row: SettingRow<never>): readonly [becomes: string, limits: string] {
  switch (row.kind) {
    case "sent":
      return [fieldsOf(row.as), row.limits ?? ""];
    case "inherent":
      return [`by itself: ${row.how}`, row.limits ?? ""];
    case "refused":
      return ["refused", row.instead];
    default:
      return row satisfies never;
  }
}

function fieldsOf(fields: readonly string[]): string {
  return fields.map((field) => code(field)).join(", ");
}

function code(text: string): string {
  return `\`${text}\``;
}

const documents = globSync("docs/providers/*.md", { cwd: root }).toSorted();
const checked = (document: string): CheckedTables =>
  checkTables(document, readFileSync(join(root, document), "utf8"), providerTables);
if (process.argv.includes("--write")) {
  for (const document of documents) writeFileSync(join(root, document), checked(document).text);
}
const texts = documents.map((document) => readFileSync(join(root, document), "utf8")).join("");
const lost = Object.keys(providerTables).filter(
  (name) => !texts.includes(`<!-- table: ${name} -->`),
);
report(
  [
    ...documents.flatMap((document) => checked(document).problems),
    ...lost.map((name) => `no page of docs/providers shows the table ${name}`),
  ],
  `provider tables: ${Object.keys(providerTables).length} are what the protocols do`,
);
