// Sessions in files of this machine, one for each session. They outlive the process.
import { fileBlobs, fileStore } from "@millrace/stores/file";

/** Opens the folder that SESSIONS names, or `sessions`. */
export function openFiles() {
  const folder = process.env.SESSIONS || "sessions";
  const store = fileStore(folder);
  const blobs = fileBlobs(folder);
  return { options: { store, blobs }, close: () => store.close() };
}
