import type { Item, Session } from "./client.ts";

/** The files of a message, so that it can be sent again with them. One that can't be read any more is left out. */
export async function filesOf(session: Session, { parts }: Item): Promise<readonly File[]> {
  const files = await Promise.all(
    parts.map(async (part) => {
      if (part.kind !== "media" && part.kind !== "file") return undefined;
      const bytes = part.bytes?.slice() ?? (part.blob && (await session.blob(part.blob.hash)));
      const name = part.kind === "file" ? part.name : (part.mediaType.split("/")[0] ?? "file");
      return bytes && new File([bytes], name, { type: part.mediaType });
    }),
  );
  return files.filter((file) => file !== undefined);
}
