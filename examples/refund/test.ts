// The script with a person who approves, and with one who denies.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

async function answered(answer: string): Promise<string> {
  const main = new URL("main.ts", import.meta.url).pathname;
  const running = promisify(execFile)(process.execPath, ["--conditions=@millrace/source", main], {
    timeout: 60_000,
  });
  running.child.stdin?.end(answer);
  const { stdout, stderr } = await running;
  assert.equal(stderr, "");
  return stdout;
}

const yes = await answered("y\n");
assert.match(yes, /► refund: ok\nDone\.\npaid back: \[ 9000 \]\n$/);
const no = await answered("n\n");
assert.match(no, /► denied\nDone\.\npaid back: \[\]\n$/);
console.log("what a person allows is paid back, what a person denies is not");

const booking = new URL("booking.ts", import.meta.url).pathname;
const booked = await promisify(execFile)(process.execPath, [
  "--conditions=@millrace/source",
  booking,
]);
assert.equal(
  booked.stdout,
  "{ day: '2026-06-01' }\n{ day: '2026-06-01T00:00:00.000Z', tables: [ 4, 7 ] }\n",
);
console.log("events have what the model sent and the JSON of what the tool returned");
