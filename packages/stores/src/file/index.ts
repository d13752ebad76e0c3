export { fileStore } from "./file-store.ts";
export type { FileStore, FileStoreOptions } from "./file-store.ts";
export { fileBlobs } from "./file-blobs.ts";
export type { FileBlobsOptions } from "./file-blobs.ts";
export type { BrokenFile } from "./session-folder.ts";
export type { Fsync } from "./folder.ts";
export type { TornTail } from "./session-file.ts";
export { verifySessionFile } from "./verify.ts";
export type { Anchor, FileFaultCode, FileVerdict, FileVerifyOptions } from "./verify.ts";
