// Makes a key for a user: npm run user -- ann
import { createApiKey } from "@millrace/server";
import { refuse } from "./refuse.ts";

const [user = ""] = process.argv.slice(2);
if (!/^[\w.@-]{1,100}$/.test(user)) refuse("Name the user: npm run user -- ann");
const { key, id, hash } = createApiKey();
console.log(`The key of ${user}, which is kept nowhere:\n${key}`);
console.log(`Add to API_KEYS in .env, after a space if there are others:\n${user}:${id}:${hash}`);
