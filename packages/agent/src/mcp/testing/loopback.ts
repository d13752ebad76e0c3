// Loaded before a test server that listens on all addresses and can't say on which port: makes it
// listen on loopback only, and write the port to standard error.
import { Server } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";

type Listen = (this: Server, ...given: unknown[]) => Server;

const { prototype } = Server;
// Called with the server as `this`, as the original is.
const listen = Reflect.get(prototype, "listen") as Listen;

Server.prototype.listen = function (this: Server, ...given: unknown[]): Server {
  const [port, ...rest] = given;
  this.once("listening", () => {
    const { port: own } = this.address() as AddressInfo; // a TCP server has no other
    process.stderr.write(`port:${own}\n`);
  });
  return listen.call(this, Number(port), "127.0.0.1", ...rest);
} as typeof Server.prototype.listen;
