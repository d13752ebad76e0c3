import { strictEqual } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const printed = execFileSync(process.execPath, ["--conditions=@millrace/source", main], {
  encoding: "utf8",
});

strictEqual(printed.includes("The money is on its way."), true, printed);
strictEqual(printed.includes("inputId: 'input_thanks-1'"), true, printed);
console.log("two sides: sent once, allowed, answered");
