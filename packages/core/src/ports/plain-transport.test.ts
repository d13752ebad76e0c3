import { describe, expect, it } from "vitest";
import { isLoopback, plainTransportFault, transportOf } from "./plain-transport.ts";

describe("a transport", () => {
  it.each([
    ["http://localhost:11434/v1", undefined],
    ["http://LOCALHOST/", undefined],
    ["http://a.localhost/", undefined],
    ["http://127.0.0.1:1/", undefined],
    ["http://127.8.9.10/", undefined],
    ["http://2130706433/", undefined], // 127.0.0.1 as one number
    ["http://[::1]:80/", undefined],
    ["http://[::ffff:127.0.0.1]/", undefined],
    ["https://api.example.com/", undefined],
    ["http://api.example.com/", "api.example.com"],
    ["http://127.0.0.1.example.com/", "127.0.0.1.example.com"],
    ["http://localhost.example.com/", "localhost.example.com"],
    ["http://localhost@example.com/", "example.com"],
    ["http://10.0.0.5/", "10.0.0.5"],
    ["http://192.168.1.20:11434/", "192.168.1.20"],
    ["http://0.0.0.0/", "0.0.0.0"],
    ["http://[fe80::1]/", "[fe80::1]"],
    ["http://[::ffff:10.0.0.5]/", "[::ffff:a00:5]"],
  ])("to %s is refused for the host %s unless it is allowed", (url, refused) => {
    const fault = (allowPlain: boolean | undefined): string | undefined =>
      plainTransportFault(transportOf(url, { secure: "https:", allowPlain }));

    if (refused === undefined) expect(fault(undefined)).toBe(undefined);
    else expect(fault(undefined)).toContain(`the connection to ${refused} is not encrypted`);
    if (refused !== undefined) expect(fault(false)).toMatch(/use https:\/\/.*allowPlain: true/);
    expect(fault(true)).toBe(undefined);
  });

  it("to a socket of this machine is not refused", () => {
    const transport = { host: undefined, encrypted: false, allowPlain: false, instead: "" };

    expect(plainTransportFault(transport)).toBe(undefined);
    expect(isLoopback("::ffff:127.0.0.1")).toBe(true);
  });
});
