import { createApiKey } from "@millrace/server";

/** A key, and the settings by which a project with `--sign-in keys` knows it. */
export interface KnownKey {
  readonly key: string;
  readonly env: { readonly API_KEYS: string };
}

/** Makes keys, of which all are known by the settings of the first. */
export function knownKeys(count: number): readonly [KnownKey, ...KnownKey[]] {
  const made = Array.from({ length: count }, () => createApiKey());
  const entries = made.map(({ id, hash }, at) => `user-${at}:${id}:${hash}`);
  const env = { API_KEYS: entries.join(" ") };
  return made.map(({ key }) => ({ key, env })) as unknown as [KnownKey]; // at least one is asked for
}
