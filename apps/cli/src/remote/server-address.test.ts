import { expect, it } from "vitest";
import { parseCommand } from "../command/arguments.ts";
import { readServerAddress } from "./server-address.ts";

it("a token goes to this machine or over TLS, and no address holds one", () => {
  const read = (url: string, token?: string): string => {
    const address = readServerAddress(url, token);
    return address.url === undefined ? `no: ${address.problem}` : `${address.url} ${address.token}`;
  };
  expect(read("http://127.0.0.1:3000/", "t")).toBe("http://127.0.0.1:3000 t");
  expect(read("https://example.com/agent", "t")).toBe("https://example.com/agent t");
  expect(read("http://example.com/agent", "")).toBe("http://example.com/agent undefined");
  expect(read("http://192.0.2.1", "t")).toMatch(/^no: .*not sent without TLS/);
  expect(read("http://t@127.0.0.1")).toMatch(/^no: .*MILLRACE_TOKEN/);
  expect(read("http://127.0.0.1?token=t")).toMatch(/^no: .*MILLRACE_TOKEN/);
  expect(read("file:///tmp")).toMatch(/^no: .*HTTP/);
  expect(read("127.0.0.1:3000")).toMatch(/^no: /);
});

it("what is the server's own can't be given with --url", () => {
  const parse = (...words: readonly string[]): string => {
    const command = parseCommand(["chat", "--url", "http://127.0.0.1:3000", ...words]);
    return command.command === "usage" ? command.problem : command.command;
  };
  expect(parse("--session", "trip")).toBe("chat");
  expect(parse("--list")).toBe("list");
  expect(parse("-p", "--json", "hello")).toBe("chat");
  for (const option of ["model", "store", "tools"])
    expect(parse(`--${option}`, "none")).toBe(
      `--${option} is the server's own with --url: leave it out`,
    );
  expect(parse("--json=events", "hello")).toContain("for sessions in files");
});
