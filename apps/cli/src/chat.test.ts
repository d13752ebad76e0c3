// Drives the real command in a real terminal (tmux), as a person would.
import { startVendorServer } from "@millrace/providers/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { anthropicReply } from "./testing/anthropic.ts";
import { TestFolder } from "./testing/folder.ts";
import { TestTerminal } from "./testing/terminal.ts";

/** Starting a process and a tmux server takes seconds where others work too. */
const patience = 180_000;

const numbers = Array.from({ length: 60 }, (_, at) => `word${at + 1}`);
const sixty = numbers.join(" ");

/** The numbered words on a screen, in order. */
function wordsOn(screen: string): readonly string[] {
  return screen.match(/\bword\d+\b/g) ?? [];
}

const vendorEnv = (url: string): Record<string, string> => ({
  ANTHROPIC_API_KEY: "no-real-key",
  ANTHROPIC_BASE_URL: url,
});

describe("a vendor's reply in a terminal", () => {
  it(
    "appears as it comes, each word once and in order",
    async () => {
      await using folder = await TestFolder.open();
      await using server = await startVendorServer({
        replies: [{ body: anthropicReply(sixty), chunks: "event", delayMs: 60 }],
      });
      const args = ["chat", "--model", "anthropic/m", "--store", folder.path, "--tools", "none"];
      await using terminal = await TestTerminal.open({
        folder: folder.path,
        args,
        env: vendorEnv(server.url),
      });
      await terminal.until(/^>$/m);
      await terminal.say("count");

      const seen: (readonly string[])[] = [];
      for (let look = 0; look < 400 && (seen.at(-1)?.length ?? 0) < 60; look += 1) {
        seen.push(wordsOn(await terminal.screen()));
        await sleep(100);
      }

      for (const words of seen) expect(words).toEqual(numbers.slice(0, words.length));
      const lengths = new Set(seen.map((words) => words.length));
      console.log(`count: ${lengths.size} growing prefixes seen in ${seen.length} looks`);
      expect(lengths.size).toBeGreaterThan(4);
      expect(seen.at(-1)).toEqual(numbers);
    },
    patience,
  );

  it.each([
    ["Ctrl-C", "C-c"],
    ["Esc", "Escape"],
  ])(
    "is stopped by %s, keeps what came, and the session goes on and can be resumed",
    async (_, key) => {
      await using folder = await TestFolder.open();
      await using server = await startVendorServer({
        replies: [
          { body: anthropicReply(sixty), chunks: "event", delayMs: 150 },
          { body: anthropicReply("Here I am again.") },
        ],
      });
      const args = ["chat", "--model", "anthropic/m", "--store", folder.path, "--tools", "none"];
      const env = vendorEnv(server.url);
      {
        await using terminal = await TestTerminal.open({
          folder: folder.path,
          args: [...args, "--session", "trip"],
          env,
        });
        await terminal.until(/^>$/m);
        await terminal.say("count");
        await terminal.until("word5");
        await terminal.press(key);
        const stopped = await terminal.until("stopped; what came is kept");

        expect(wordsOn(stopped).length).toBeLessThan(60);
        expect((await server.received(1)).outcome?.by).toBe("client");

        await sleep(2_100); // a second Ctrl-C so soon would leave, but this is no Ctrl-C
        await terminal.say("still there?");
        await terminal.until("Here I am again.");
        const [, second] = server.requests;
        expect(second?.body).toContain("word5");

        await terminal.press("C-c");
        expect(await terminal.ended()).toBe(0);
        expect(await terminal.screen()).toContain("To go on: millrace chat --resume trip");
      }
      await using again = await TestTerminal.open({
        folder: folder.path,
        args: [...args, "--resume", "trip"],
        env,
      });
      const past = await again.until("Here I am again.");

      expect(past).toMatch(
        /► you: count\nword1 [\s\S]*word5[\s\S]*— it was stopped here —\n► you: still there\?\nHere I am again\./,
      );
    },
    patience,
  );

  it(
    "goes on after the process was killed in the middle of it",
    async () => {
      await using folder = await TestFolder.open();
      await using server = await startVendorServer({
        replies: [
          { body: anthropicReply(sixty), chunks: "event", delayMs: 150 },
          { body: anthropicReply("Done after all."), chunks: "event", delayMs: 20 },
        ],
      });
      const args = ["chat", "--model", "anthropic/m", "--store", folder.path, "--tools", "none"];
      const env = vendorEnv(server.url);
      {
        await using terminal = await TestTerminal.open({
          folder: folder.path,
          args: [...args, "--session", "long"],
          env,
        });
        await terminal.until(/^>$/m);
        await terminal.say("count");
        await terminal.until("word5");
        process.kill(await terminal.pid(), "SIGKILL");
        await terminal.ended();
      }
      await using again = await TestTerminal.open({
        folder: folder.path,
        args: [...args, "--resume", "long"],
        env,
      });
      const shown = await again.until("Done after all.");

      expect(shown).toMatch(
        /► you: count\n► the run was interrupted here[^\n]*\n► going on with the run\nDone after all\./,
      );
      expect(wordsOn(shown)).toEqual([]);
      expect(server.requests).toHaveLength(2);
    },
    patience,
  );
});
