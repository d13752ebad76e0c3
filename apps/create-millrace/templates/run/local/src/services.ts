// Where sessions live. PostgreSQL, Redis and Temporal are a few lines here, and nothing elsewhere: see README.md.
import { openFiles } from "./files.ts";

/** Opens what `createMillrace` is given. `close` comes after `millrace.close`. */
export async function openServices() {
  return openFiles();
}
