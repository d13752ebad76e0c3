// Makes a password for a user: npm run user -- ann
import { createHash, randomBytes } from "node:crypto";
import { refuse } from "./refuse.ts";

const [user = ""] = process.argv.slice(2);
if (!/^[\w.@-]{1,100}$/.test(user)) refuse("Name the user: npm run user -- ann");
const password = randomBytes(24).toString("base64url");
const hash = createHash("sha256").update(password).digest("hex");
console.log(`The password of ${user}, which is kept nowhere:\n${password}`);
console.log(`Add to USERS in .env, after a space if there are others:\n${user}:${hash}`);
