import type { Metadata } from "@millrace/core/writing";

/** The metadata of a new session. It stays for the session's life: another model is for one time. */
export function modelMetadata(modelName: string): Metadata {
  return { model: modelName };
}

/** The model that a session began with, by its metadata, which any program may have written. */
export function rememberedModel(metadata: Metadata | undefined): string | undefined {
  const model = metadata?.["model"];
  return typeof model === "string" && model !== "" ? model : undefined;
}
