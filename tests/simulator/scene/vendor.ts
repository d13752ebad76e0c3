/**
 * A vendor of models as a process of its own, which enforces its rules. It sends bytes at its own pace: what
 * a stopped worker has not read waits in its socket.
 */
import { strictAnthropic } from "@millrace/conformance/vendors";
import type { AcceptedRequest, PlainReply, StrictVendor } from "@millrace/conformance/vendors";
import { filler, sealed } from "../../kit/deployment/paced-agent.ts";
import { parseDirective } from "../../kit/deployment/directive.ts";
import type { HttpHost } from "../world/http-network.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import { simulation } from "../world/simulation.ts";
import type { WorldLedger } from "./ledger.ts";

/** The pause before each event of a reply. */
const eventMs = 60;

export interface SimulatedVendor extends HttpHost {
  readonly strict: StrictVendor;
  /** Whether the next request is refused. */
  isBusy: boolean;
}

export function simulatedVendor(process: SimulatedProcess, ledger: WorldLedger): SimulatedVendor {
  const strict = strictAnthropic({ now: () => simulation().now });
  const handle = async (request: Request): Promise<Response> => {
    if (vendor.isBusy) {
      vendor.isBusy = false;
      return Response.json(overloaded, { status: 529 });
    }
    const { pathname: path } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const sent = { method: request.method, path, headers, body: await request.text() };
    const answer = strict.answer(sent, (accepted) => replyTo(accepted, process, ledger));
    const text =
      typeof answer.body === "string" ? answer.body : Buffer.from(answer.body).toString();
    return new Response(paced(text, request.signal), {
      status: answer.status,
      headers: { ...answer.headers },
    });
  };
  const vendor: SimulatedVendor = { process, handle, strict, isBusy: false };
  return vendor;
}

const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };

function replyTo(
  { lastUserText, answersCalls, wantsSummary, number }: AcceptedRequest,
  { random }: SimulatedProcess,
  ledger: WorldLedger,
): PlainReply {
  const asked = directiveOf(lastUserText);
  const nonce = random
    .below(2 ** 32)
    .toString(16)
    .padStart(8, "0");
  const think = `Thought ${number}.`;
  const write = (text: string): string => {
    const whole = sealed(`${text} #${nonce} ${filler(asked?.length ?? 10)}`);
    ledger.recordReply(nonce, whole);
    return whole;
  };
  if (wantsSummary || asked === undefined) return { think, text: write("nothing was asked") };
  const { key, mode } = asked;
  if (mode === "plain" || answersCalls) return { think, text: write(`answer to ${key}`) };
  const call = (name: string, suffix = "") => ({ name, input: { key: `${key}${suffix}` } });
  const text = write(`calls for ${key}`);
  if (mode === "effect") return { think, text, calls: [call("pay")] };
  if (mode === "ask") return { think, text, calls: [call("dare")] };
  return { think, text, calls: [call("pay", "a"), call("pay", "b"), call("look"), call("again")] };
}

/** That of the last line that is one: steers and notes may stand around it. */
function directiveOf(text: string) {
  return text
    .split("\n")
    .map((line) => parseDirective(line.trim()))
    .findLast((directive) => directive !== undefined);
}

/** The events of a response, one at a time. */
function paced(text: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  const events = text.split(/(?<=\n\n)/);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, eventMs));
      const event = events.shift();
      if (event === undefined || signal.aborted) controller.close();
      else controller.enqueue(Buffer.from(event));
    },
  });
}
