import type { TraceContext } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { startVendorServer } from "./serve/vendor-server.ts";
import { hello, toyModel } from "./testing/toy-model.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const tracestate = "vendor=value";

/** The trace headers that a vendor gets. */
async function headersOf(
  trace: TraceContext | undefined,
  traceHeaders?: boolean,
): Promise<Readonly<Record<string, unknown>>> {
  await using server = await startVendorServer({ replies: [{ body: hello }] });
  const model = toyModel(server.url, { traceHeaders });
  const { stop } = await model.stream({ transcript: [], trace }).result;
  expect(stop).toBe("end");
  const headers = server.requests[0]?.headers ?? {};
  return { traceparent: headers["traceparent"], tracestate: headers["tracestate"] };
}

test("the trace of a request is not sent to a vendor unasked", async () => {
  const nothing = { traceparent: undefined, tracestate: undefined };
  expect(await headersOf({ traceparent, tracestate })).toStrictEqual(nothing);
  expect(await headersOf({ traceparent, tracestate }, false)).toStrictEqual(nothing);
});

test("the trace of a request is sent as the headers of the W3C's Trace Context if asked for", async () => {
  const sent = await headersOf({ traceparent, tracestate }, true);
  expect(sent).toStrictEqual({ traceparent, tracestate });
  const plain = await headersOf({ traceparent }, true);
  expect(plain).toStrictEqual({ traceparent, tracestate: undefined });
});

test("what is no trace is not sent, and the request goes on", async () => {
  const nothing = { traceparent: undefined, tracestate: undefined };
  expect(await headersOf(undefined, true)).toStrictEqual(nothing);
  expect(await headersOf({ traceparent: "a\r\nx: y" }, true)).toStrictEqual(nothing);
  const odd = await headersOf({ traceparent, tracestate: "a\r\nx: y" }, true);
  expect(odd).toStrictEqual({ traceparent, tracestate: undefined });
});
