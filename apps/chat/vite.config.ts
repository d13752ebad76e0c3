import { fileURLToPath } from "node:url";
import { defaultClientConditions, defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  resolve: {
    conditions: ["@millrace/source", ...defaultClientConditions],
    alias: { "rehype-raw": fileURLToPath(new URL("src/page/no-raw-html.ts", import.meta.url)) },
  },
  build: {
    assetsInlineLimit: 0, // inlined files would need `data:` in the page's policy
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog: (level, log, write) => {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") write(level, log); // "use client", which means nothing here
      },
    },
  },
});
