// The shell is a process: by this import the tests without processes leave this file out.
import "node:child_process";
import { tmpdir } from "node:os";

import { scriptedModel, say, call } from "@millrace/core/testing";
import { systemClock } from "@millrace/core/memory";
import { defineAgent } from "@millrace/agent";
import { hasPidNamespaces } from "@millrace/agent/process";
import { expect, test } from "vitest";

import { createTools } from "./tools.ts";

test("a command of the shell reads no environment but its own", { timeout: 60_000 }, async () => {
  const command = "cat /proc/$PPID/environ /proc/[0-9]*/environ | tr '\\0' '\\n' | cut -d= -f1";
  const tools = createTools(["shell"], { clock: systemClock, cwd: tmpdir() });
  const model = scriptedModel([[call("shell", { command })], [say("done")]]);
  const run = defineAgent({ model, tools }).run("go", { ask: () => "allow" });
  let text = "";
  for await (const event of run) {
    const parts = event.type === "item_committed" ? event.item.parts : [];
    for (const part of parts) if (part.kind === "tool_result") text += part.text;
  }

  const names = [...new Set(text.split("\n"))].filter((name) => /^[A-Za-z_]+$/.test(name));
  const own =
    /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TERM|TZ|TMPDIR|TMP|TEMP|PWD|OLDPWD|SHLVL|_|MILLRACE_EXECUTION)$/;
  expect(names).toContain("MILLRACE_EXECUTION");
  if (await hasPidNamespaces()) expect(names.filter((name) => !own.test(name))).toEqual([]);
});
