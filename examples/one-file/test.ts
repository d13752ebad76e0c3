import { rehearse } from "./rehearse.ts";

const main = new URL("main.ts", import.meta.url);
await rehearse(main, "[weather Oslo]\nTake a warm coat.\n", "ANTHROPIC_BASE_URL");
