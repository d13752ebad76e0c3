import { putCases } from "./blob-store-put.ts";
import { readCases } from "./blob-store-read.ts";
import { sweepCases } from "./blob-store-sweep.ts";
import type { BlobStoreFixture } from "./blob-store-fixture.ts";
import type { Case } from "./case.ts";

/** Requirements of every BlobStore. */
export const blobStoreCases: readonly Case<BlobStoreFixture>[] = [
  ...putCases,
  ...readCases,
  ...sweepCases,
];
