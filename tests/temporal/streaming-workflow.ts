import { defineAgent } from "@millrace/agent";

/** What must not be done in a workflow. Returns what one is told then. */
export async function streamingWorkflow(): Promise<readonly string[]> {
  const agent = defineAgent({ respond: async (run) => void (await run.write("hello")) });
  return [await told(() => agent.open()), await told(() => agent.run("hello").text())];
}

async function told(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return "nothing";
  } catch (error) {
    return error instanceof Error ? error.message : "no error";
  }
}
