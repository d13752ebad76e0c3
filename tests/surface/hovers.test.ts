import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../../scripts/workspace.ts";

/** A program of a user. It is held in memory, in a folder that has all our packages. */
const file = join(root, "tests/surface/program-in-memory.ts");
const program = `
import { defineAgent, defineTool } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { z } from "zod";

declare const model: Model;
const input = z.object({ city: z.string() });
const weather = defineTool({ name: "weather", input, run: async () => ({ celsius: 3 }) });
const agent = defineAgent({ model, tools: [weather] });
const run = agent.run("What should I wear?");
for await (const event of run) {
  if (event.type === "tool_execution_started") { const started = event; void started; }
}
for await (const told of run.narrate()) {
  if (told.type === "tool_execution_started") { const narrated = told; void narrated; }
}
const question = await run.until("approval_requested");
const session = await agent.open();
const approval = session.approvals[0]!;
const item = session.items[0]!;
for (const part of item.parts) {
  if (part.kind === "tool_call" && part.state === "running") { const running = part; void running; }
}
void [question, approval];
`;

/** What an editor shows for a constant of the program, on one line. */
function createHover(): (name: string) => string {
  const own = { extends: "./tsconfig.json", include: [], files: [file] };
  const { options } = ts.parseJsonConfigFileContent(own, ts.sys, root);
  const read = (path: string): string | undefined =>
    path === file ? program : ts.sys.readFile(path);
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) => {
      const text = read(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: (found) => ts.getDefaultLibFilePath(found),
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
  });
  expect(service.getSemanticDiagnostics(file).map(({ messageText }) => messageText)).toEqual([]);
  return (name) => {
    const shown = service.getQuickInfoAtPosition(
      file,
      program.indexOf(`const ${name}`) + "const ".length,
    );
    return ts.displayPartsToString(shown?.displayParts).replaceAll(/\s+/g, " ");
  };
}

test("an editor shows names and the tool's own types, and not how they were made", () => {
  const hover = createHover();

  const city = "{ city: string; }";
  expect(hover("started")).toBe(`const started: ToolStarted<"weather", ${city}>`);
  expect(hover("narrated")).toBe(`const narrated: NarratedStart<"weather", ${city}>`);
  expect(hover("question")).toBe(`const question: ToolAsked<"weather", ${city}>`);
  expect(hover("approval")).toBe(`const approval: ToolApproval<"weather", ${city}>`);
  expect(hover("item")).toMatch(/^const item: ViewItemOf<readonly \[Tool<"weather"/);
  expect(hover("running")).toMatch(
    /^const running: CallOnScreen<"weather", \{ city: string; \}> & \{/,
  );
});
