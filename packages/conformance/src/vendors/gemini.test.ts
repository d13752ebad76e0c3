import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { strictGemini } from "./gemini.ts";
import type { PlainReply, StrictVendor } from "./vendor.ts";

interface Received {
  readonly refused: string | undefined;
  readonly parts: readonly JsonObject[];
  readonly usage: JsonObject;
}

function send(
  vendor: StrictVendor,
  [body, model = "gemini-3-pro"]: readonly [JsonObject, string?],
  reply: PlainReply = { text: "Yes." },
): Received {
  const response = vendor.answer(
    {
      method: "POST",
      path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
      headers: {},
      body: JSON.stringify(body),
    },
    () => reply,
  );
  const text = response.body as string;
  if (response.status !== 200) {
    const { error } = JSON.parse(text) as { error: { message: string; status: string } };
    expect(error.status).toBe("INVALID_ARGUMENT");
    return { refused: error.message, parts: [], usage: {} };
  }
  const chunks = [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data = "{}"]) =>
      JSON.parse(data) as {
        candidates: [{ content: { parts: JsonObject[] }; finishReason?: string }];
        usageMetadata: JsonObject;
      },
  );
  expect(chunks.map(({ candidates: [{ finishReason }] }) => finishReason).filter(Boolean)).toEqual([
    "STOP",
  ]);
  return {
    refused: undefined,
    parts: chunks.flatMap(({ candidates: [{ content }] }) => content.parts),
    usage: chunks.at(-1)?.usageMetadata ?? {},
  };
}

const user = (text: string): JsonObject => ({ role: "user", parts: [{ text }] });
const model = (...parts: readonly JsonObject[]): JsonObject => ({
  role: "model",
  parts: [...parts],
});
const result = (name = "weather"): JsonObject => ({
  role: "user",
  parts: [{ functionResponse: { name, response: { output: "4" } } }],
});
const calls = [
  { name: "weather", input: { city: "Oslo" } },
  { name: "time", input: {} },
];
const missing = (position: number): string =>
  `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:weather\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;

test("the first call of a reply is signed, and a text without calls at its end", () => {
  const vendor = strictGemini({ now: () => 0 });
  const body = { contents: [user("One?")] };

  const first = send(vendor, [body], { think: "Hm.", text: "Let me see.", calls });
  expect(first.parts.map((part) => Object.keys(part))).toEqual([
    ["text", "thought"],
    ["text"],
    ["text"],
    ["functionCall", "thoughtSignature"],
    ["functionCall"],
  ]);
  const second = send(vendor, [body], { think: true, text: "Yes." });
  expect(second.parts.map((part) => Object.keys(part))).toEqual([["text", "thoughtSignature"]]);
});

/** Parts of a signed call, by the vendor itself. */
function signedCall(vendor: StrictVendor): JsonObject {
  const { parts } = send(vendor, [{ contents: [user("One?")] }], { calls: calls.slice(0, 1) });
  return parts[0] as JsonObject;
}

const signatures: readonly [
  name: string,
  contents: (call: JsonObject) => readonly JsonObject[],
  refused: string | undefined,
][] = [
  ["a signed call in the running turn", (call) => [user("One?"), model(call), result()], undefined],
  [
    "a call without its signature in the running turn",
    ({ functionCall }) => [user("One?"), model({ functionCall } as JsonObject), result()],
    missing(2),
  ],
  [
    "a call without its signature in the second step of the running turn",
    (call) => [
      user("One?"),
      model(call),
      result(),
      model({ functionCall: call["functionCall"] } as JsonObject),
      result(),
    ],
    missing(4),
  ],
  [
    "a call without its signature in an earlier turn",
    ({ functionCall }) => [
      user("One?"),
      model({ functionCall } as JsonObject),
      result(),
      model({ text: "Yes." }),
      user("Two?"),
    ],
    undefined,
  ],
  [
    "a placeholder",
    ({ functionCall }) => [
      user("One?"),
      model({ functionCall, thoughtSignature: "skip_thought_signature_validator" } as JsonObject),
      result(),
    ],
    undefined,
  ],
  [
    "a changed signature",
    (call) => [user("One?"), model({ ...call, thoughtSignature: "c2lnbmVk" }), result()],
    "Corrupted thought signature.",
  ],
  [
    "a changed signature in an earlier turn",
    (call) => [
      user("One?"),
      model({ ...call, thoughtSignature: "c2lnbmVk" }),
      result(),
      model({ text: "Yes." }),
      user("Two?"),
    ],
    "Corrupted thought signature.",
  ],
  [
    "fewer results than calls",
    (call) => [user("One?"), model(call, { functionCall: { name: "time", args: {} } }), result()],
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
  ],
  [
    "a call behind another turn of the model",
    (call) => [user("One?"), model({ text: "Yes." }), model(call), result()],
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
  ],
  [
    "an unknown field of a part",
    () => [{ role: "user", parts: [{ text: "A", colour: "red" }] }],
    "Invalid JSON payload received. Unknown name \"colour\" at 'contents[0].parts[0]': Cannot find field.",
  ],
  ["no content", () => [], "* GenerateContentRequest.contents: contents is not specified\n"],
];

test.for(
  signatures.map(([name, contents, refused]) => {
    return [name, refused === undefined ? "accepted" : "refused", contents, refused] as const;
  }),
)("%s is %s", ([, , contents, refused]) => {
  const vendor = strictGemini({ now: () => 0 });
  const call = signedCall(vendor);

  expect(send(vendor, [{ contents: [...contents(call)] }]).refused).toBe(refused);
});

test("a signature of another key is refused", () => {
  const call = signedCall(strictGemini({ now: () => 0, account: "a" }));
  const contents = [user("One?"), model(call), result()];

  const other = strictGemini({ now: () => 0, account: "b" });
  expect(send(other, [{ contents }]).refused).toBe("Corrupted thought signature.");
});

test("models before the third generation need no signatures", () => {
  const vendor = strictGemini({ now: () => 0 });
  const contents = [user("One?"), model({ functionCall: { name: "weather", args: {} } }), result()];

  expect(send(vendor, [{ contents }, "gemini-2.5-flash"]).refused).toBeUndefined();
});

test("a prefix is read from 2,048 tokens on, for the same model", () => {
  const long = "All work and no play makes a model dull. ".repeat(300);
  const cached = (text: string, second = "gemini-3-pro"): unknown => {
    const vendor = strictGemini({ now: () => 0 });
    const body = { systemInstruction: { parts: [{ text }] }, contents: [user("One?")] };
    send(vendor, [body]);
    const { usage } = send(vendor, [
      { ...body, contents: [user("One?"), model({ text: "Yes." }), user("Two?")] },
      second,
    ]);
    return usage["cachedContentTokenCount"];
  };

  expect(cached(long)).toBeGreaterThan(3000);
  expect(cached(long.slice(0, 7000))).toBeUndefined();
  expect(cached(long, "gemini-3-flash")).toBeUndefined();
});
