// A prompt on the command line in a real terminal: the chat it begins, Esc, and the line to go on by.
import { join } from "node:path";
import { startVendorServer } from "@millrace/providers/testing";
import { describe, expect, it } from "vitest";
import { chatCompletionsReply } from "./testing/chat-completions.ts";
import { TestFolder } from "./testing/folder.ts";
import { TestTerminal } from "./testing/terminal.ts";

const patience = 300_000;
/** Where others work too, a process may take long to start. */
const startMs = 120_000;

const words = Array.from({ length: 60 }, (_, at) => `word${at + 1}`).join(" ");

describe.each([80, 40])("in a terminal of %i columns", (columns) => {
  it(
    "a prompt begins a chat, Esc stops its run, and the line that is printed goes on with the same model",
    async () => {
      await using folder = await TestFolder.open();
      await using server = await startVendorServer({
        replies: [
          { body: chatCompletionsReply(words), chunks: "event", delayMs: 200 },
          { body: chatCompletionsReply("Still here.") },
          { body: chatCompletionsReply("And again.") },
        ],
      });
      const model = `${server.url}/v1#small`;
      const open = (args: readonly string[]): Promise<TestTerminal> =>
        TestTerminal.open({ folder: folder.path, args, columns });
      await using terminal = await open(["count to sixty", "--model", model, "--tools", "none"]);
      await terminal.until("word5", startMs);
      await terminal.press("Escape");
      const stopped = await terminal.until(/stopped; what came is kept\n>$/);

      expect(stopped).toMatch(
        /► you: count to sixty\nword1 word2 word3 word4 word5[^\n]*\n► stopped/,
      );
      expect(stopped).not.toContain("word60");
      expect((await server.received(1)).outcome?.by).toBe("client");

      await terminal.press("Escape");
      await terminal.say("still there?");
      await terminal.until(/Still here\.\n>$/);
      await terminal.say("/quit");
      expect(await terminal.ended()).toBe(0);
      const [, line = ""] = /^To go on: millrace (.*)$/m.exec(await terminal.screen()) ?? [];
      expect(line).toMatch(/^chat --resume \S+ --tools none$/);

      await using again = await open([...line.split(" "), "and now?"]);
      const shown = await again.until(/And again\.\n>$/, startMs);
      expect(shown).toContain("Still here.");
      expect(server.requests.map(({ json }) => (json as { model: string }).model)).toEqual([
        "small",
        "small",
        "small",
      ]);
    },
    patience,
  );

  it(
    "-p prints the answer and ends",
    async () => {
      await using folder = await TestFolder.open();
      const model = await folder.script(`export const replies = [[{ say: "${words}" }]];`);
      const args = ["-p", "count", "--model", model, "--store", join(folder.path, "sessions")];
      await using terminal = await TestTerminal.open({ folder: folder.path, args, columns });

      expect(await terminal.ended(startMs)).toBe(0);
      expect(await terminal.screen()).toMatch(new RegExp(`^${words}$`));
    },
    patience,
  );

  it(
    "a mistake is one line without a stack",
    async () => {
      await using folder = await TestFolder.open();
      const args = ["hello", "--model", "demo", "--store", "/dev/null/sessions"];
      await using terminal = await TestTerminal.open({ folder: folder.path, args, columns });

      expect(await terminal.ended(startMs)).toBe(2);
      expect(await terminal.screen()).toMatch(
        /^millrace: can't keep sessions in \/dev\/null\/sessions: it is no folder \(ENOTDIR\); name another folder with --store <folder>$/,
      );
    },
    patience,
  );
});
