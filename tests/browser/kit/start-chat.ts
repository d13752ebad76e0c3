import { spawn } from "node:child_process";
import { once } from "node:events";

/** `examples/chat`, as a user starts it, on a free port. */
export interface ChatExample extends AsyncDisposable {
  readonly url: string;
}

/** Starts it. */
export async function startChat(): Promise<ChatExample> {
  const file = new URL("../../../examples/chat/server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=@millrace/source", file], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [output] = (await once(child.stdout, "data")) as [Buffer]; // a stream of bytes
  return {
    url: output.toString().trim(),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The policy that it sends with its page: what the page may load and run. */
export async function policyOf({ url }: ChatExample): Promise<string> {
  const page = await fetch(url, { headers: { accept: "text/html" } });
  await page.body?.cancel();
  return page.headers.get("content-security-policy") ?? "";
}
