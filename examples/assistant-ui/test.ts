// Starts the example, loads its page as a browser does, and has one conversation with it. What the page does with
// it is in tests/fronts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createClient } from "@millrace/client";

const file = new URL("server.ts", import.meta.url).pathname;
const child = spawn(process.execPath, ["--conditions=@millrace/source", file], {
  env: { ...process.env, PORT: "0" },
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [output] = (await once(child.stdout, "data")) as [Buffer]; // a stream of bytes
  const url = output.toString().trim();
  const page = await fetch(url, {
    headers: { accept: "text/html", "sec-fetch-dest": "document" },
  });
  assert.match(await page.text(), /src="\/page\.tsx/);
  for (const path of ["/page.tsx", "/page-ai-sdk.tsx"]) {
    const script = await fetch(`${url}${path}`);
    assert.match(script.headers.get("content-type") ?? "", /javascript/);
  }
  const [cookie = ""] = page.headers.get("set-cookie")?.split(";") ?? [];

  const asPage: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    request.headers.set("cookie", cookie);
    request.headers.set("origin", url); // as the page of this server
    return fetch(request);
  };
  using client = createClient({ url: `${url}/agent`, fetch: asPage });
  const run = client.session().send("Book a room.", { ask: () => "allow" });
  assert.match(await run.text(), /OSL-4711/);
  console.log("assistant-ui: a page, a tool, an approval");
} finally {
  child.kill("SIGKILL");
}
