import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const modules = (name: string): string =>
  fileURLToPath(new URL(`../../../node_modules/${name}`, import.meta.url));

/** Bundles a program for a page, with our packages from source, and with React's checks unless it is measured. */
export async function bundleForPage(
  entry: URL,
  mode: "development" | "production" = "development",
): Promise<string> {
  const build = await rolldown({
    input: entry.pathname,
    platform: "browser",
    resolve: {
      conditionNames: ["@millrace/source", "browser", "default"],
      alias: { react: modules("react"), "react-dom": modules("react-dom") }, // one React, whoever asks for it
    },
    transform: { define: { "process.env.NODE_ENV": JSON.stringify(mode) } },
    logLevel: "silent",
  });
  const { output } = await build.generate({ format: "esm", minify: mode === "production" });
  return output[0].code;
}

/** A page with a program and with what a server has rendered of it. */
export function htmlOf(program: string, rendered = ""): string {
  const script = program.replaceAll("</script", String.raw`<\/script`);
  return `<!doctype html><meta charset="utf-8"><title>React</title><div id="root">${rendered}</div><script type="module">${script}</script>`;
}
