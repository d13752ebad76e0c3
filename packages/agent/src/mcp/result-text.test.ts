import { expect, test } from "vitest";

import { resultText } from "./result-text.ts";

test.for([
  [[], ""],
  [
    [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
    "a\nb",
  ],
  [[{ type: "text", text: "\uD800" }], "\uFFFD"],
  [
    [{ type: "image", data: "QUJD", mimeType: "image/png" }],
    "[image: image/png, 3 bytes, not shown]",
  ],
  [
    [{ type: "audio", data: "QUI=", mimeType: "audio/wav" }],
    "[audio: audio/wav, 2 bytes, not shown]",
  ],
  [[{ type: "image", data: "QQ==" }], "[image: no type, 1 bytes, not shown]"],
  [[{ type: "image" }], "[image: no type, 0 bytes, not shown]"],
  [
    [{ type: "resource_link", uri: "a://b", name: "B\u202E", mimeType: "text/x", size: 7 }],
    '[link to a resource: "B[1 hidden character left out]", a://b, text/x, 7 bytes]',
  ],
  [[{ type: "resource", resource: { uri: "a://b", text: "c" } }], "[resource: a://b, no type]\nc"],
  [
    [{ type: "resource", resource: { uri: "a://b", blob: "QUJD" } }],
    "[resource: a://b, no type, 3 bytes, not shown]",
  ],
  [[{ type: "resource" }], "[a resource that can't be read]"],
  [[{ type: "hologram" }], '[a block of the sort "hologram", not shown]'],
  [["text", null], "[a block that can't be read]\n[a block that can't be read]"],
] as const)("%j reads %j", ([content, text]) => {
  expect(resultText(content)).toBe(text);
});
