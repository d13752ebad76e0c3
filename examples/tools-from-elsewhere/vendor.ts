// Tools that vendors define: a shell that a person allows, and a memory in which the agent takes notes.
import { defineAgent, narrateTo } from "@millrace/agent";
import { memoryTool, shellTool } from "@millrace/agent/tools";
import { call, say, scriptedModel } from "@millrace/core/testing";

const model = scriptedModel([
  [call("shell", { commands: ["uptime"] })],
  [call("memory", { command: "create", path: "/memories/load.md", file_text: "Low on Monday." })],
  [say("The machine is idle.")],
]);

// #region tools
const notes = new Map<string, string>();

const shell = shellTool({
  // Yours: a container, a virtual machine, a remote host. Each call asks first, unless `approve` is given.
  run: ({ commands }) => ({
    outputs: commands.map((command) => ({ stdout: `${command}: load 0.1\n`, stderr: "", exit: 0 })),
  }),
});

const memory = memoryTool({
  run: (input) => {
    if (input.command === "create") notes.set(input.path, input.file_text);
    if (input.command === "view") return notes.get(input.path) ?? [...notes.keys()].join("\n");
    return "done";
  },
});

const agent = defineAgent({
  model,
  tools: [shell, memory],
  observers: [narrateTo(process.stdout)],
});
await agent.run("Is the machine busy?", { ask: () => "allow" }).result;
// #endregion tools
console.log(notes);
