// Texts that only this server can have made: each ends in a code by SESSION_SECRET.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const secret = process.env.SESSION_SECRET || randomBytes(32).toString("hex"); // then none outlives the process

/** The text with its code. The purpose keeps a text of one sort from being taken for another. */
export function signed(purpose: string, text: string): string {
  return `${text}.${codeOf(purpose, text).toString("base64url")}`;
}

/** The text, if its code is right. */
export function verified(purpose: string, given: string): string | undefined {
  const at = given.lastIndexOf(".");
  const text = given.slice(0, Math.max(at, 0));
  const code = Buffer.from(given.slice(at + 1), "base64url");
  const expected = codeOf(purpose, text);
  return code.length === expected.length && timingSafeEqual(code, expected) ? text : undefined;
}

function codeOf(purpose: string, text: string): Buffer {
  return createHmac("sha256", secret).update(`${purpose}\0${text}`).digest();
}

/** The value of a cookie. */
export function cookieOf(cookies: string | null | undefined, name: string): string | undefined {
  const pairs = (cookies ?? "").split(/; */).map((pair) => pair.split("=", 2));
  return pairs.find(([each]) => each === name)?.[1];
}
