import { inspect } from "node:util";
import { expect, test } from "vitest";
import { redact, registerSecret, rememberCredential, secretsIn } from "./known-secrets.ts";
import { redactData, redactedMessage, redactError, secretsInData } from "./redact-data.ts";

const value = "mainframe:SWORDFISH:pass";

function withSecret(run: () => void): void {
  const release = registerSecret({ name: "gateway", value });
  try {
    run();
  } finally {
    release();
  }
}

test("a registered secret is replaced until it is taken back as often as it was registered", () => {
  const first = registerSecret({ name: "gateway", value });
  const second = registerSecret({ name: "gateway", value });
  first();
  first();
  expect(redact(`is ${value}`)).toBe("is [redacted]");

  second();
  expect(redact(`is ${value}`)).toBe(`is ${value}`);
});

test("a secret of less than 8 characters is refused with what to do, and without its value", () => {
  const register = (): unknown => registerSecret({ name: "PIN", value: "1234567" });

  expect(register).toThrow(/the secret PIN has 7 characters.*use a longer secret/);
  expect(register).not.toThrow(/1234567/);
  // @ts-expect-error -- An environment variable that is not set.
  expect(() => registerSecret({ name: "TOKEN", value: undefined })).toThrow(/Check that it is set/);
});

test("the 4,096 credentials that were used last are known, and a registered one stays", () => {
  const release = registerSecret({ name: "kept", value: "credential-0-of-many" });
  for (let at = 0; at < 5_096; at += 1) {
    rememberCredential("token", `credential-${at}-of-many`);
    rememberCredential("token", "credential-1-of-many");
  }

  expect(redact("credential-0-of-many.")).toBe("[redacted].");
  expect(redact("credential-1-of-many.")).toBe("[redacted].");
  expect(redact("credential-1000-of-many.")).toBe("credential-1000-of-many.");
  expect(redact("credential-1001-of-many.")).toBe("[redacted].");
  release();
});

test("a credential that may be a word is replaced in errors and raises no notice in content", () => {
  rememberCredential("the key of a local server", "not-needed");

  expect(redact("key not-needed")).toBe("key [redacted]");
  expect(secretsIn("a key is not-needed here")).toEqual([]);
});

test("data of a cause loses secrets in strings and keys, and is the same object without any", () => {
  withSecret(() => {
    const clean = { code: "x", evidence: [{ a: 1 }] };
    expect(redactData(clean)).toBe(clean);
    expect(redactData({ message: value, evidence: [{ [value]: `<${value}>`, kept: 1 }] })).toEqual({
      message: "[redacted]",
      evidence: [{ "[redacted]": "<[redacted]>", kept: 1 }],
    });
  });
});

test("names of secrets are found in content of any depth", () => {
  withSecret(() => {
    const hex = Buffer.from(value).toString("hex");
    expect([...secretsInData({ parts: [{ input: { a: [`x${hex}`] } }] })]).toEqual(["gateway"]);
    expect([...secretsInData({ parts: ["nothing"] })]).toEqual([]);
  });
});

test("an error is copied without its secrets: message, stack, fields, causes and circles", () => {
  withSecret(() => {
    const inner = Object.assign(new TypeError(`bad ${value}`), { input: `redis://:${value}@h` });
    const outer: Error & { self?: unknown } = new AggregateError([inner], "several", {
      cause: inner,
    });
    outer.self = outer;

    const clean = redactError(outer);
    expect(clean).toBeInstanceOf(AggregateError);
    expect(inspect(clean, { depth: 10 })).not.toContain("SWORDFISH");
    expect(inspect(clean, { depth: 10 })).toContain("bad [redacted]");
    expect(inspect(outer, { depth: 10 })).toContain("SWORDFISH");

    const other = new Error("harmless", { cause: new Error("too") });
    expect(redactError(other)).toBe(other);
    expect(redactedMessage(inner)).toBe("bad [redacted]");
  });
});
