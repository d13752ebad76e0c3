// Starts the chat, loads its page as a browser does, and has one conversation with it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createClient } from "@millrace/client";
import type { millrace } from "./server.ts";

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
  for (const file of ["page.tsx", "small.tsx"]) {
    const script = await fetch(`${url}/${file}`);
    assert.match(script.headers.get("content-type") ?? "", /javascript/);
  }
  const [cookie = ""] = page.headers.get("set-cookie")?.split(";") ?? [];
  assert.match(cookie, /^guest=/);

  const asPage: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    request.headers.set("cookie", cookie);
    request.headers.set("origin", url); // as the page of this server
    return fetch(request);
  };
  using client = createClient<typeof millrace>({ url: `${url}/agent`, fetch: asPage });
  const session = client.session();
  const answers = new Set<string>();
  session.subscribe(({ approvals }) => {
    for (const { id, tool } of approvals) {
      if (answers.has(id)) continue;
      answers.add(id);
      assert.equal(tool, "book");
      session.allow(id);
    }
  });
  assert.match(await session.send("What should I pack?").text(), /raincoat/);
  assert.match(await session.send("Book a room.").text(), /OSL-4711/);
  assert.equal(answers.size, 1);
  console.log("chat: a page, a tool, an approval");
} finally {
  child.kill("SIGKILL");
}
