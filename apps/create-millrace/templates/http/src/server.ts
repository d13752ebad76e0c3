// Starts the server.
import { closeOnSignals, serve } from "./serve.ts";
import { openSignIn } from "./sign-in.ts";

const { HOST, PORT = "3000" } = process.env;

const server = await serve({ signIn: openSignIn(), host: HOST || undefined, port: Number(PORT) });
console.log(`${server.url}/agent`);
closeOnSignals(server.close);
