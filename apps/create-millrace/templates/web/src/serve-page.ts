// The page: by Vite with `--dev`, as `npm run dev` has it, else the files that `npm run build` made.
import { globSync, readFileSync } from "node:fs";
import type { RequestListener, Server } from "node:http";
import { extname, join } from "node:path";

export async function servePage(server: Server): Promise<RequestListener> {
  return process.argv.includes("--dev") ? await pageOfVite(server) : builtPage("dist");
}

async function pageOfVite(server: Server): Promise<RequestListener> {
  const { createServer } = await import("vite");
  const vite = await createServer({ server: { middlewareMode: true, hmr: { server } } });
  return vite.middlewares;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

// What models and tools write is shown as text. Should that ever fail, it still loads and runs nothing.
const policy = "default-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

/** From memory, so that no path leads out of the folder. */
function builtPage(folder: string): RequestListener {
  const names = globSync("**/*.{html,js,css}", { cwd: folder });
  const files = new Map(names.map((name) => [`/${name}`, readFileSync(join(folder, name))]));
  if (!files.has("/index.html")) throw new Error("there is no page: run `npm run build`");
  return ({ url = "/" }, response) => {
    const [path = "/"] = url.split("?");
    const name = path === "/" ? "/index.html" : path;
    const isForEver = name.startsWith("/assets/"); // their names have a hash
    response.setHeader("content-security-policy", policy);
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("cache-control", isForEver ? "max-age=31536000, immutable" : "no-cache");
    const type = files.has(name) ? types[extname(name)] : undefined;
    if (type === undefined) return void response.writeHead(404).end("not found");
    response.writeHead(200, { "content-type": type }).end(files.get(name));
  };
}
