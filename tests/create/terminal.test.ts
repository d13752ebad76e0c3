// The creator as a person meets it, in a real terminal.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestTerminal } from "../../apps/cli/src/testing/terminal.ts";
import { temporaryFolder } from "../../scripts/temporary.ts";
import { root } from "../../scripts/workspace.ts";

const command = [process.execPath, join(root, "apps/create-millrace/src/main.ts")];

/** The folder without what the terminal keeps there. */
const listed = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => !name.startsWith("terminal-"));

test("a person answers four questions at 40 columns, and is shown the next steps", async () => {
  using folder = temporaryFolder();
  const place = { folder: folder.path, columns: 40, command };
  await using terminal = await TestTerminal.open({ ...place, args: ["shop"] });
  await terminal.until("What do you build?");
  await terminal.say("terminal");
  await terminal.until("Which model?");
  await terminal.say("");
  await terminal.until("Where will it run?");
  await terminal.say("1");
  await terminal.until("How do people sign in?");
  await terminal.say("keys");
  const shown = await terminal.until("npm run dev");
  expect(shown).toContain("cd shop");
  expect(await terminal.ended()).toBe(0);
  expect(listed(folder.path)).toEqual(["shop"]);
  expect(existsSync(join(folder.path, "shop/src/terminal.ts"))).toBe(true);
});

test("Ctrl-C and Ctrl-D at a question end it with nothing written, and the terminal as it was", async () => {
  for (const key of ["C-c", "C-d"]) {
    using folder = temporaryFolder();
    const place = { folder: folder.path, command };
    await using terminal = await TestTerminal.open({ ...place, args: ["shop", "--template=web"] });
    await terminal.until("Which model?");
    await terminal.press(key);
    expect(await terminal.ended()).toBe(1);
    expect(await terminal.screen()).toContain("create-millrace: nothing was written");
    expect(await terminal.modes()).toEqual(expect.arrayContaining(["icanon", "echo"]));
    expect(listed(folder.path)).toEqual([]);
  }
});
