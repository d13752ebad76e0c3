// Records what a vendor answers, until it is stopped:
//   node packages/providers/src/serve/record.ts --target https://api.openai.com --out recordings --protocol openai-chat
import { once } from "node:events";
import { parseArgs } from "node:util";
import { startRecorder } from "./recorder.ts";

const { values } = parseArgs({
  options: {
    target: { type: "string" },
    out: { type: "string" },
    protocol: { type: "string" },
    name: { type: "string", default: "recording" },
    port: { type: "string", default: "0" },
    redact: { type: "string", multiple: true, default: [] },
  },
});

const { target, out, protocol, name, port, redact } = values;
if (target === undefined || out === undefined || protocol === undefined) {
  process.stderr.write("needed: --target <url> --out <folder> --protocol <id>\n");
  process.stderr.write("possible: --name <prefix> --port <number> --redact <secret>, repeated\n");
  process.exitCode = 2;
} else {
  const recorder = await startRecorder({
    target,
    folder: out,
    protocol,
    redact,
    port: Number(port),
    name: (number) => `${name}-${number}`,
  });
  process.stdout.write(`${recorder.url} records ${target} to ${out}; stop it to end\n`);
  await once(process, "SIGINT");
  await recorder.close();
  for (const recorded of recorder.recordings) process.stdout.write(`${JSON.stringify(recorded)}\n`);
}
