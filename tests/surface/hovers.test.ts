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
const days = z.object({ first: z.string().transform((text) => new Date(text)), count: z.int().default(1) });
const book = defineTool({ name: "book", input: days, run: ({ first }) => ({ first, tags: new Set(["a"]) }) });
const agent = defineAgent({ model, tools: [weather, book] });
const run = agent.run("What should I wear?");
for await (const event of run) {
  if (event.type === "tool_execution_started" && event.tool === "weather") { const started = event; void started; }
  if (event.type === "tool_execution_started" && event.tool === "book") { const booking = event; void booking; }
  if (event.type === "tool_execution_finished" && event.tool === "book") { const booked = event; void booked; }
}
for await (const told of run.narrate()) {
  if (told.type === "tool_execution_started" && told.tool === "weather") { const narrated = told; void narrated; }
}
const question = await run.until("approval_requested");
const session = await agent.open();
const approval = session.approvals[0]!;
const item = session.items[0]!;
for (const part of item.parts) {
  if (part.kind !== "tool_call" || part.tool !== "book") continue;
  if (part.state === "running") { const running = part; void running; }
  if (part.state === "finished") { const finished = part; void finished; }
  if (part.state === "waiting") { const waiting = part; void waiting; }
}
const stored = session.transcript[0]!;
for (const part of stored.parts) {
  if (part.kind === "tool_result" && part.tool === "book") { const result = part; void result; }
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
  const sent = "{ first: string; count?: number; }";
  const output = "{ first: string; tags: string[]; }";
  expect(hover("started")).toBe(`const started: ToolStarted<"weather", ${city}>`);
  expect(hover("booking")).toBe(`const booking: ToolStarted<"book", ${sent}>`);
  expect(hover("booked")).toBe(`const booked: ToolFinished<"book", ${output}>`);
  expect(hover("narrated")).toBe(`const narrated: NarratedStart<"weather", ${city}>`);
  expect(hover("question")).toBe(
    `const question: ToolAsked<"weather", ${city}> | ToolAsked<"book", ${sent}>`,
  );
  expect(hover("approval")).toBe(
    `const approval: ToolApproval<"weather", ${city}> | ToolApproval<"book", ${sent}>`,
  );
  expect(hover("item")).toMatch(/^const item: ViewItemOf<readonly \[Tool<"weather"/);
  expect(hover("stored")).toMatch(/^const stored: ItemOf<readonly \[Tool<"weather"/);
  expect(hover("result")).toBe(`const result: ToolResultOf<"book", ${output}>`);
  expect(hover("running")).toBe(`const running: RunningCall<"book", ${sent}>`);
  expect(hover("finished")).toBe(`const finished: FinishedCall<"book", ${sent}, ${output}>`);
  expect(hover("waiting")).toBe(`const waiting: WaitingCall<"book", ${sent}>`);
});
