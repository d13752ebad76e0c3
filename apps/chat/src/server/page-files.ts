import { readFileSync, globSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** Answers requests for the files of the built page. */
export type ServeFile = (request: IncomingMessage, response: ServerResponse) => void;

interface PageFile {
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly type: string | undefined;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Serves a folder from memory: it is small, and nothing outside it can be asked for. Names with a hash are
 * kept by browsers for ever, the page itself never.
 */
export function pageFiles(folder: string): ServeFile {
  const files = new Map<string, PageFile>(
    globSync("**/*.*", { cwd: folder }).map((name) => {
      const bytes = readFileSync(join(folder, name));
      return [`/${name}`, { bytes, gzip: gzipSync(bytes), type: types[extname(name)] }] as const;
    }),
  );
  if (!files.has("/index.html")) throw new Error(`${folder} has no page: run npm run build first`);
  return ({ url = "/", headers }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const file = files.get(pathname === "/" ? "/index.html" : pathname);
    if (file?.type === undefined) return void response.writeHead(404).end("not found");
    const isZipped = /\bgzip\b/.test(headers["accept-encoding"] ?? "");
    response.writeHead(200, {
      "content-type": file.type,
      "cache-control": pathname.startsWith("/assets/")
        ? "public, max-age=31536000, immutable"
        : "no-cache",
      vary: "accept-encoding",
      ...(isZipped && { "content-encoding": "gzip" }),
    });
    response.end(isZipped ? file.gzip : file.bytes);
  };
}
