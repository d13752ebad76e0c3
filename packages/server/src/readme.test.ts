import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("the program in the README streams a session to a client, and answers 404 for an unknown one", async () => {
  const path = fileURLToPath(new URL("testing/readme-run.ts", import.meta.url));
  const flags = ["--conditions=@millrace/source", "--no-warnings"];
  const child = spawn(process.execPath, [...flags, path], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PORT: "0" },
  });
  try {
    const [output] = (await once(child.stdout, "data")) as [Buffer];
    const url = `http://127.0.0.1:${/port: (\d+)/.exec(output.toString())?.[1]}/demo`;
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    const snapshot = /\n\nid: 1\..*\ndata: \{"type":"snapshot","v":1,/;
    let text = "";
    // The first bytes go out at once; the snapshot may come in a packet of its own.
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (snapshot.test(text)) break;
    }
    const unknown = await fetch(new URL("/unknown", url));

    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(text).toMatch(snapshot);
    expect(unknown.status).toBe(404);
  } finally {
    child.kill("SIGKILL");
  }
});
