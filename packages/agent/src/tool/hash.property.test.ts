import { equalJson, parseJson } from "@millrace/core/wire";
import { callId, itemId, runId, sessionUid } from "@millrace/core/writing";
import type { Json, JsonObject } from "@millrace/core";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { approvalHash, canonicalJson } from "./hash.ts";
import type { ApprovalSubject, ParsedForm } from "./hash.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 300_000 });

const key = fc.oneof(
  fc.constantFrom("a", "b", "", "ключ", "😀", "\uFFFF", "constructor", "1", "10", "2"),
  fc.string({ maxLength: 4 }),
);
const leaf = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1e21, 1e-7, "", "a", "1", "null", "\u2028"),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.maxSafeInteger(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => (Number.isSafeInteger(value) || !Number.isInteger(value) ? value : 0.5)),
);
const { json, object } = fc.letrec<{ json: Json; object: JsonObject }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc.array(tie("json"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc
    .dictionary(key, tie("json"), { maxKeys: 3, noNullPrototype: true })
    .filter((record) => !Object.hasOwn(record, "__proto__")),
}));

/** The same value with the keys of every object in another order. */
function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value as JsonObject).toReversed();
  return Object.fromEntries(fields.map(([name, child]) => [name, shuffled(child)]));
}

const other: Json = "something else that no generator makes";

/** Every value that differs from this one in a single place: a leaf, a key, a length. */
function changes(value: Json): Json[] {
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    return [
      [...list, null],
      ...(list.length > 0 ? [list.slice(1)] : []),
      ...list.flatMap((child, at) => changes(child).map((changed) => list.with(at, changed))),
    ];
  }
  if (typeof value !== "object" || value === null) {
    const near: Json[] = typeof value === "string" ? [`${value} `, [value]] : [String(value)];
    return [other, ...near];
  }
  const record = value as JsonObject;
  const deeper = Object.entries(record).flatMap(([name, child]) => {
    const { [name]: _, ...rest } = record;
    const renamed = { ...rest, [`${name}\u0000new`]: child };
    return [rest, renamed, ...changes(child).map((changed) => ({ ...record, [name]: changed }))];
  });
  return [{ ...record, "a key that no generator makes": null }, ...deeper];
}

it("equal values have one canonical text, others another, and it reads back as the value", () => {
  const times = runs(20_000, 2_000_000);

  fc.assert(
    fc.property(json, json, (left, right) => {
      const text = canonicalJson(left);
      if (canonicalJson(shuffled(left)) !== text) throw new Error("two texts");
      if ((canonicalJson(right) === text) !== equalJson(left, right)) throw new Error("one text");
      for (const changed of changes(left)) {
        if (canonicalJson(changed) === text) throw new Error(`as ${JSON.stringify(changed)}`);
      }
      const parsed = parseJson(text);
      if (!parsed.ok || !equalJson(parsed.value, left)) throw new Error("another value");
    }),
    { numRuns: times },
  );

  console.log(`count: canonical JSON, ${times} values, 0 failures`);
});

/** Texts in which the border between two fields could be moved, if they were only strung together. */
const idText = fc.oneof(
  fc.constantFrom("a", "b", "ab", "1", '","', "a:b"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 6 }),
);
const subject: fc.Arbitrary<ApprovalSubject> = fc.record({
  uid: fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/).map(sessionUid),
  runId: idText.map(runId),
  callId: idText.map(callId),
  itemId: idText.map(itemId),
  tool: fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/),
  description: fc.option(fc.string({ maxLength: 8 }), { nil: undefined }),
  inputSchema: object,
  input: object,
  parsed: fc.oneof(
    fc.constantFrom("same" as const, "unshown" as const),
    object.map((parsed) => ({ parsed })),
  ),
});

/** A subject that differs in exactly one field. `pick` says which change of it is taken. */
function changed(
  from: ApprovalSubject,
  field: keyof ApprovalSubject,
  pick: number,
): ApprovalSubject {
  switch (field) {
    case "uid":
      return { ...from, uid: sessionUid(`${from.uid}_`) };
    case "runId":
      return { ...from, runId: runId(`${from.runId}_`) };
    case "callId":
      return { ...from, callId: callId(`${from.callId}_`) };
    case "itemId":
      return { ...from, itemId: itemId(`${from.itemId}_`) };
    case "tool":
      return { ...from, tool: `${from.tool}_` };
    case "description": {
      const { description } = from;
      const options = [`${description ?? ""} `, description === undefined ? "" : undefined];
      return { ...from, description: options[pick % options.length] };
    }
    case "inputSchema":
    case "input": {
      const all = changes(from[field]);
      return { ...from, [field]: all[pick % all.length] };
    }
    case "parsed": {
      const { parsed = "same" } = from;
      const values: readonly Json[] =
        typeof parsed === "string" ? [{}, [], null] : changes(parsed.parsed);
      const other: ParsedForm = parsed === "same" ? "unshown" : "same";
      const all: readonly ParsedForm[] = [other, ...values.map((one) => ({ parsed: one }))];
      return { ...from, parsed: all[pick % all.length] };
    }
    default:
      field satisfies never;
      return from;
  }
}

it("T25: an approval's hash changes with whatever changes after it, and with nothing else", async () => {
  const times = runs(100_000, 5_000_000);
  const fields: readonly (keyof ApprovalSubject)[] = [
    "uid",
    "runId",
    "callId",
    "itemId",
    "tool",
    "description",
    "inputSchema",
    "input",
    "parsed",
  ];
  const seen = new Map<string, number>();

  await fc.assert(
    fc.asyncProperty(
      subject,
      fc.constantFrom(...fields),
      fc.nat(10_000),
      async (from, field, pick) => {
        seen.set(field, (seen.get(field) ?? 0) + 1);
        const same: ApprovalSubject = {
          ...from,
          input: shuffled(from.input) as JsonObject,
          inputSchema: shuffled(from.inputSchema),
        };
        const [hash, again, mutated] = await Promise.all([
          approvalHash(from),
          approvalHash(same),
          approvalHash(changed(from, field, pick)),
        ]);
        if (hash !== again) throw new Error("equal subjects, two hashes");
        if (hash === mutated) throw new Error(`${field} is not in the hash`);
        if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`not 64 digits: ${hash}`);
      },
    ),
    { numRuns: times },
  );

  for (const field of fields) expect(seen.get(field)).toBeGreaterThan(times / 20);
  console.log(`count: T25 (hash), ${times} calls with one change each, 0 failures`);
});
