/** A web node that stores a prompt and is killed before it can report it. */
import { WebNode } from "./web-node.ts";

const [url = "", tenant = "", session = "", text = ""] = process.argv.slice(2);
const node = new WebNode(url, { wake: () => void process.kill(process.pid, "SIGKILL") });
await node.create(tenant, session);
await node.send(tenant, session, text);
