import { rehearse } from "../one-file/rehearse.ts";

const main = new URL("main.ts", import.meta.url);
await rehearse(main, '[weather {"city":"Oslo"}]\nTake a warm coat.\n', "BASE_URL");
