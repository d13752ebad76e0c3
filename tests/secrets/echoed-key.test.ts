import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { defineAgent, jsonLines, narrateTo } from "@millrace/agent";
import { anthropic } from "@millrace/providers/anthropic";
import { gemini } from "@millrace/providers/gemini";
import { openai, openaiChat } from "@millrace/providers/openai";
import { fileStore } from "@millrace/stores/file";
import { describe, expect, it } from "vitest";

const key = "corp-gw:HUNTER2:token-of-the-gateway";

type MakeModel = typeof anthropic | typeof openai | typeof gemini;

/** How each vendor reports an error in its stream. */
const vendors: readonly (readonly [string, MakeModel, (words: string) => object])[] = [
  [
    "anthropic",
    anthropic,
    (words) => ({ type: "error", error: { type: "authentication_error", message: words } }),
  ],
  ["openai chat", openaiChat, (words) => ({ error: { code: "invalid_api_key", message: words } })],
  [
    "openai responses",
    openai,
    (words) => ({ type: "error", code: "invalid_api_key", message: words }),
  ],
  [
    "gemini",
    gemini,
    (words) => ({ error: { code: 400, status: "INVALID_ARGUMENT", message: words } }),
  ],
];

/** A server that answers with what it was sent in the headers that authorise. */
function echoing(answer: (sent: string) => Response): typeof globalThis.fetch {
  return async (_, init) => {
    const headers = new Headers(init?.headers);
    const names = ["x-api-key", "x-goog-api-key", "authorization", "x-corp-token"];
    return answer(names.map((name) => headers.get(name) ?? "").join(" "));
  };
}

function streamed(event: object): Response {
  const headers = { "content-type": "text/event-stream" };
  return new Response(`data: ${JSON.stringify(event)}\n\n`, { headers });
}

/** Runs one prompt, and returns all that is left of it: result, stored session, lines and narration. */
async function traces(make: MakeModel, options: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-secrets-"));
  let written = "";
  const sink = { write: (text: string) => ((written += text), true) };
  const model = make("m", { apiKey: key, retry: false, ...options });
  const agent = defineAgent({ model, observers: [jsonLines(sink), narrateTo(sink)] });
  const store = fileStore(folder);
  const session = await agent.open({ id: "x", store });
  const result = await session.send("hi").result;
  await session.close();
  await store.close();
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  const stored = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), "utf8")),
  );
  await rm(folder, { recursive: true });
  expect(result.outcome).toBe("failed");
  return [inspect(result, { depth: 20 }), JSON.stringify(result), written, ...stored].join("\n");
}

describe.each(vendors)("a vendor that repeats the key: %s", (_, make, errorOf) => {
  it("leaves no key in result, stored session, lines or narration, by an error in the stream", async () => {
    const fetch = echoing((sent) => streamed(errorOf(`wrong key: ${sent}`)));
    const text = await traces(make, { fetch });

    expect(text).toContain("wrong key: ");
    expect(text).not.toContain("HUNTER2");
  });

  it("… nor encoded as base64, in hex or for a URL", async () => {
    const fetch = echoing((sent) => {
      const bytes = Buffer.from(`Basic ${sent}`);
      const words = [bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")];
      return streamed(errorOf([...words, encodeURIComponent(sent)].join(" ")));
    });
    const text = await traces(make, { fetch });

    expect(text).not.toContain("HUNTER2");
    expect(text).not.toContain(Buffer.from("HUNTER2").toString("hex"));
    for (const shift of ["", "x", "xx"]) {
      const inside = Buffer.from(`${shift}HUNTER2`).toString("base64").slice(4, 8);
      expect(text).not.toContain(inside);
    }
  });

  it("… nor by the body of an error, whatever the key looks like", async () => {
    const fetch = echoing((sent) => {
      const body = JSON.stringify({ error: { message: `wrong key: ${sent}` } });
      return new Response(body, { status: 401, headers: { "content-type": "application/json" } });
    });

    expect(await traces(make, { fetch })).not.toContain("HUNTER2");
  });

  it("… nor a token in a header of its own, or credentials in the address", async () => {
    const fetch = echoing((sent) => streamed(errorOf(`${sent} p4ss:HUNTER2:w0rd`)));
    const options = {
      fetch,
      apiKey: "short",
      headers: { "x-corp-token": "HUNTER2-of-the-header" },
      baseUrl: "https://someone:p4ss%3AHUNTER2%3Aw0rd@gateway.example/v1",
    };

    expect(await traces(make, options)).not.toContain("HUNTER2");
  });
});
