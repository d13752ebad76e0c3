// For those who store bytes or move them: the checks that every blob store makes, and parts to blobs and back.
export {
  blobPieces,
  checkBlobScope,
  checkBlobPut,
  checkBlobRange,
  defaultBlobLimit,
} from "./ports/blob-store.ts";
export type {
  BlobBytes,
  BlobFindOptions,
  BlobPutOptions,
  BlobRange,
  BlobSweepOptions,
  BlobSwept,
} from "./ports/blob-store.ts";
export {
  blobsInFact,
  copyBlobs,
  maxInlineBytes,
  partsToBlobs,
  partsWithBytes,
  sweepBlobs,
} from "./ports/blob-parts.ts";
export type { SweepBlobsOptions, WithBytes } from "./ports/blob-parts.ts";
