import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blobStoreCases } from "@millrace/conformance";
import type { BlobStoreFixture } from "@millrace/conformance";
import { sessionUid } from "@millrace/core/writing";
import { describe, it } from "vitest";
import { fileBlobs } from "./file-blobs.ts";

const fixture: BlobStoreFixture = {
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-"));
    return {
      blobs: fileBlobs(folder),
      newPlace: async (tenant) => ({ tenant, uid: sessionUid(crypto.randomUUID()) }),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
    };
  },
};

describe("fileBlobs", () => {
  for (const { name, run } of blobStoreCases) it.concurrent(name, () => run(fixture));
});
