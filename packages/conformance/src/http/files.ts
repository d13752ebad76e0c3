import { createHash } from "node:crypto";
import { assert, assertEqual } from "../case.ts";
import { freshKey } from "./caller.ts";
import type { Caller, HttpAnswer } from "./caller.ts";
import { casesOf } from "./http-case.ts";
import type { HttpCase } from "./http-case.ts";

const httpCase = casesOf("state");

const sha256 = (bytes: string | Uint8Array): string =>
  `sha256-${createHash("sha256").update(bytes).digest("hex")}`;

interface Upload {
  readonly bytes: string | Uint8Array;
  readonly type?: string;
  readonly digest?: string;
}

const upload = (
  caller: Caller,
  id: string,
  { bytes, type = "text/plain", digest }: Upload,
): Promise<HttpAnswer> =>
  caller.call("POST", `/v1/sessions/${id}/blobs`, {
    bytes,
    headers: {
      "content-type": type,
      ...(digest === undefined ? {} : { "content-digest": digest }),
    },
  });

/** Bytes beside a session. */
export const fileCases: readonly HttpCase[] = [
  httpCase(65, "a blob is named by its content, once", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const bytes = "some bytes";
    const first = await upload(ann, id, { bytes });
    const second = await upload(ann, id, { bytes });

    const blob = { hash: sha256(bytes), size: 10, mediaType: "text/plain" };
    assertEqual([first.status, first.body], [201, blob], "it is stored");
    assertEqual([second.status, second.body], [200, blob], "the second time it is there");
    assert((first.headers["location"] ?? "").endsWith(blob.hash), "it has an address");
    const read = await ann.expect(200, "GET", `/v1/sessions/${id}/blobs/${blob.hash}`);
    assertEqual(read.text, bytes, "its bytes are read back");
    assertEqual(read.headers["cache-control"], "private, max-age=31536000, immutable", "for ever");
    const match = { headers: { "if-none-match": read.headers["etag"] ?? "" } };
    await ann.expect(304, "GET", `/v1/sessions/${id}/blobs/${blob.hash}`, match);
    const head = await ann.expect(200, "HEAD", `/v1/sessions/${id}/blobs/${blob.hash}`);
    assertEqual([head.headers["content-length"], head.text], ["10", ""], "HEAD has its length");
  }),
  httpCase(65, "a blob whose digest is wrong is not stored", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const of = (bytes: string): string =>
      `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
    const right = await upload(ann, id, { bytes: "right", digest: of("right") });
    const wrong = await upload(ann, id, { bytes: "wrong", digest: of("other") });

    assertEqual(right.status, 201, right.text);
    assertEqual([wrong.status, wrong.body.code], [422, "digest_mismatch"], "it is refused");
    await ann.refused(404, "not_found", "GET", `/v1/sessions/${id}/blobs/${sha256("wrong")}`);
  }),
  httpCase(
    65,
    "a blob may have as many bytes as the limit, and not one more",
    async ({ person, open }) => {
      const server = await open({ limits: { blobBytes: 4_096, blobBytesPerSession: 8_192 } });
      const ann = server.for(person());
      const id = await ann.session();
      for (const size of [4_095, 4_096])
        assertEqual(
          (await upload(ann, id, { bytes: new Uint8Array(size) })).status,
          201,
          `${size}`,
        );
      const above = await upload(ann, id, { bytes: new Uint8Array(4_097) });
      assertEqual([above.status, above.body.code], [413, "too_large"], "one more is refused");
      assertEqual(above.body.limit, 4_096, "the answer has the limit");
      const full = await upload(ann, id, { bytes: "one too many" });
      assertEqual([full.status, full.body.code], [429, "quota_exceeded"], "the session is full");
    },
    "servers",
  ),
  httpCase(65, "an uploaded file is sent to the model by its hash", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const bytes = "a file";
    const { body: blob } = await upload(ann, id, { bytes });
    const file = { kind: "file", name: "a.txt", mediaType: "text/plain" };
    const parts = [
      { kind: "text", text: "say read" },
      { ...file, blob: { hash: blob.hash, size: blob.size } },
    ];
    const path = `/v1/sessions/${id}/inputs`;
    const body = { kind: "prompt", parts };
    const sent = await ann.expect(202, "POST", path, { key: freshKey(), body });
    const run = await ann.finished(id, sent.body.runId ?? "");

    assertEqual(run.outcome, "completed", JSON.stringify(run.cause));
    const { body: page } = await ann.expect(200, "GET", `/v1/sessions/${id}/items`);
    const named = page.items?.[0]?.item?.parts?.find(({ kind }) => kind === "file");
    assertEqual(named?.blob?.hash, sha256(bytes), "the item names the blob");
  }),
  httpCase(65, "inline bytes above 32 KiB are refused", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const of = (size: number): object => {
      const bytes = Buffer.alloc(size).toString("base64");
      const file = { kind: "file", name: "a", mediaType: "text/plain", bytes };
      return { kind: "prompt", parts: [{ kind: "text", text: "say x" }, file] };
    };
    const path = `/v1/sessions/${id}/inputs`;
    await ann.expect(202, "POST", path, { key: freshKey(), body: of(32_768) });
    await ann.refused(413, "too_large", "POST", path, { key: freshKey(), body: of(32_769) });
  }),
  httpCase(66, "ranges of a blob are read", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    const { body } = await upload(ann, id, { bytes: "0123456789" });
    const path = `/v1/sessions/${id}/blobs/${body.hash}`;
    const range = (value: string, more = {}): Promise<HttpAnswer> =>
      ann.call("GET", path, { headers: { range: value, ...more } });

    for (const [asked, text, shown] of [
      ["bytes=0-3", "0123", "bytes 0-3/10"],
      ["bytes=7-", "789", "bytes 7-9/10"],
      ["bytes=-2", "89", "bytes 8-9/10"],
      ["bytes=5-99", "56789", "bytes 5-9/10"],
    ] as const) {
      const part = await range(asked);
      const got = [part.status, part.text, part.headers["content-range"]];
      assertEqual(got, [206, text, shown], asked);
    }
    const beyond = await range("bytes=10-");
    assertEqual(
      [beyond.status, beyond.body.code],
      [416, "range_not_satisfiable"],
      "beyond its end",
    );
    assertEqual(beyond.headers["content-range"], "bytes */10", "the answer has the size");
    for (const whole of ["bytes=0-1,4-5", "items=0-1", "bytes=3-1", "bytes=x"])
      assertEqual((await range(whole)).status, 200, `${whole} is ignored`);
    const { headers } = await ann.expect(200, "GET", path);
    const same = await range("bytes=0-3", { "if-range": headers["etag"] ?? "" });
    assertEqual(same.status, 206, "the same content");
    assertEqual((await range("bytes=0-3", { "if-range": '"other"' })).status, 200, "other content");
  }),
  httpCase(67, "a hash known from another session opens nothing", async ({ person }) => {
    const ann = person();
    const [one, two] = [await ann.session(), await ann.session()];
    const { body } = await upload(ann, one, { bytes: "secret" });

    await ann.refused(404, "not_found", "GET", `/v1/sessions/${two}/blobs/${body.hash}`);
    const part = { kind: "file", name: "a", mediaType: "text/plain" };
    const blob = { hash: body.hash, size: body.size };
    const input = { kind: "prompt", parts: [{ ...part, blob }] };
    const path = `/v1/sessions/${two}/inputs`;
    await ann.refused(422, "unknown_blob", "POST", path, { key: freshKey(), body: input });
    const repeat = await upload(ann, two, { bytes: "secret" });
    assertEqual(repeat.status, 201, "an upload tells nothing about the other session");
  }),
  httpCase(68, "what could run in a browser is an attachment", async ({ person }) => {
    const ann = person();
    const id = await ann.session();
    for (const type of ["image/svg+xml", "text/html", "application/xhtml+xml", "text/xml"]) {
      const { body } = await upload(ann, id, { bytes: `<svg>${type}</svg>`, type });
      const read = await ann.expect(200, "GET", `/v1/sessions/${id}/blobs/${body.hash}`);
      const { headers } = read;
      assert(
        (headers["content-disposition"] ?? "").startsWith("attachment"),
        `${type} is attached`,
      );
      assert((headers["content-security-policy"] ?? "").includes("sandbox"), `${type} is confined`);
      assertEqual(headers["cross-origin-resource-policy"], "same-origin", `${type} stays here`);
    }
    const { body } = await upload(ann, id, { bytes: "not really", type: "image/png" });
    const image = await ann.expect(200, "GET", `/v1/sessions/${id}/blobs/${body.hash}`);
    assertEqual(image.headers["content-type"], "image/png", "an image keeps its type");
  }),
];
