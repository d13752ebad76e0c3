import { useSyncExternalStore } from "react";

/** Opens a session; without an id a new one. The address names it, so that it can be shared and reloaded. */
export function openSession(id: string = crypto.randomUUID()): void {
  location.assign(`#${encodeURIComponent(id)}`);
}

function follow(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

function current(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

/** The id of the session that the address names. */
export function useAddress(): string {
  if (location.hash.length < 2) location.replace(`#${crypto.randomUUID()}`);
  return useSyncExternalStore(follow, current);
}
