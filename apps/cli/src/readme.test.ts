// The screen in the README is one that a terminal has shown.
import { join } from "node:path";
import { expect, it } from "vitest";
import { TestFolder } from "./testing/folder.ts";
import { TestTerminal } from "./testing/terminal.ts";

it("the screen in the README is what the command shows", async () => {
  await using folder = await TestFolder.open();
  const store = join(folder.path, "sessions");
  const args = ["chat", "--model", "demo", "--session", "first", "--store", store];
  await using terminal = await TestTerminal.open({ folder: folder.path, args, columns: 76 });
  await terminal.until(/^>$/m);

  await terminal.say("run something");
  await terminal.until("allow? y/n >");
  await terminal.say("y");
  await terminal.until("came back as ok.");
  await terminal.until(/^>$/m);
  await terminal.say("who are you?");
  await terminal.until("Ask me for");
  await terminal.press("C-c");
  const shown = await terminal.until(/kept\n>$/);

  // Times differ, and so does the word at which it was stopped.
  const steady = shown.replaceAll(/\d+\.\d s/g, "0.1 s").replace(/Ask me for[^►]*/, "Ask me for\n");
  await expect(`${steady}\n`).toMatchFileSnapshot("testing/screen.txt");
}, 180_000);
