import { checkOption, checkOptions, expects } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import type { FileBlobsOptions } from "./file-blobs.ts";
import type { FileStoreOptions } from "./file-store.ts";

const { call, having, oneOf, optional, text } = expects;

/** Throws `invalid_definition` for a folder or options that can't be used. */
export function checkFileOptions(folder: unknown, options: unknown, from: Door["from"]): void {
  const door = { name: "fileStore", from };
  const fix = 'pass the folder of the sessions first, as in fileStore("sessions")';
  checkOption(door, "the folder", folder, text(fix));
  checkOptions<FileStoreOptions>(door, options, {
    clock: optional(having(["now", "monotonic", "sleep"], "pass a clock, or leave it out")),
    makeId: optional(call()),
    fsync: optional(oneOf("always", "never")),
    onBroken: optional(call()),
    onTorn: optional(call()),
  });
}

/** Throws `invalid_definition` for a folder or options of `fileBlobs` that can't be used. */
export function checkFileBlobsOptions(folder: unknown, options: unknown, from: Door["from"]): void {
  const door = { name: "fileBlobs", from };
  const fix = 'pass the folder of the sessions first, as in fileBlobs("sessions")';
  checkOption(door, "the folder", folder, text(fix));
  checkOptions<FileBlobsOptions>(door, options, {
    fsync: optional(oneOf("always", "never")),
    clock: optional(having(["now", "monotonic", "sleep"], "pass a clock, or leave it out")),
  });
}
