import { visibleText } from "@millrace/client/parts";
import { memo, useContext, useEffect, useState } from "react";
import type { ReactNode } from "react";
import type { Part } from "./client.ts";
import { hostOf, safeUrl } from "./links.ts";
import { reportFailure } from "./notices.tsx";
import { SessionContext } from "./session-context.ts";
import { askToOpen } from "./dialogs.tsx";

type FilePart = Extract<Part, { readonly kind: "media" | "file" }>;

/** Kinds of images that hold pixels and nothing else. An SVG is a document, and is offered as a file. */
const pictures = /^image\/(?:png|jpeg|gif|webp|avif)$/;

/** A file of a message: shown if it is a picture, else offered for download. One of another host is only named. */
export const Attachment = memo(({ part }: { readonly part: FilePart }): ReactNode => {
  const name = visibleText(part.kind === "file" ? part.name : part.mediaType);
  const address = useObjectUrl(part);
  if (part.url !== undefined) return <RemoteFile url={part.url} name={name} />;
  const size = showSize(part.size ?? 0);
  if (address === undefined)
    return (
      <span className="file">
        <bdi>{name}</bdi> <small>{part.live ? `${size} so far` : size}</small>
      </span>
    );
  if (pictures.test(part.mediaType)) return <img className="picture" src={address} alt={name} />;
  return (
    <a className="file" href={address} download={name}>
      <bdi>{name}</bdi> <small>{size}</small>
    </a>
  );
});

function RemoteFile({ url, name }: { readonly url: string; readonly name: string }): ReactNode {
  const safe = safeUrl(url);
  if (safe === undefined) return <bdi className="file">{name}</bdi>;
  return (
    <button type="button" className="file" onClick={() => askToOpen(safe)}>
      <bdi>{name}</bdi> <small>{hostOf(safe)}</small>
    </button>
  );
}

/** An address of the bytes that only this page can read, as long as they are shown. */
function useObjectUrl(part: FilePart): string | undefined {
  const session = useContext(SessionContext);
  const [address, setAddress] = useState<string>();
  const { bytes, mediaType } = part;
  const hash = part.blob?.hash;
  useEffect(() => {
    let made: string | undefined;
    let isOver = false;
    const show = (blob: Blob): void => {
      if (isOver) return;
      made = URL.createObjectURL(blob);
      setAddress(made);
    };
    if (bytes !== undefined) show(new Blob([bytes.slice()], { type: mediaType }));
    else if (hash !== undefined)
      void session?.blob(hash).then(show, reportFailure("A file was not loaded."));
    return () => {
      isOver = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [bytes, hash, mediaType, session]);
  return address;
}

/** A number of bytes in a readable unit. */
export function showSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1_000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
