/**
 * Setup of the project `unit`: a test that opens a port fails there. Such a test calls `listen` in its own
 * code or in a helper, by which `scripts/test-kinds.ts` knows it.
 */
import net from "node:net";

net.Server.prototype.listen = () => {
  throw new Error("a unit test opens no port: see scripts/test-kinds.ts");
};
