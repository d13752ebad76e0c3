/**
 * The texts by which a secret is recognised: as it is, and as encoders write it. Base64 has three forms,
 * because a secret may begin at any of three places of the encoded bytes; each form has only characters
 * that depend on nothing but the secret. None is shorter than the secret.
 */
export function formsOf(secret: string): readonly string[] {
  const value = secret.toWellFormed();
  const bytes = new TextEncoder().encode(value);
  const hex = Array.from(bytes, hexByte);
  const url = encodeURIComponent(value);
  const base64 = [0, 1, 2].map((shift) => base64Inside(bytes, shift));
  return [
    ...new Set([
      value,
      JSON.stringify(value).slice(1, -1),
      url,
      lowerEscapes(url),
      // As forms of the web are encoded.
      new URLSearchParams([["", value]]).toString().slice(1),
      // By encoders that escape every byte.
      hex.map((byte) => `%${byte}`).join(""),
      hex.map((byte) => `%${byte.toUpperCase()}`).join(""),
      hex.join(""),
      hex.join("").toUpperCase(),
      ...base64,
      ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    ]),
  ];
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

function lowerEscapes(url: string): string {
  return url.replaceAll(/%../g, (escape) => escape.toLowerCase());
}

/** The base64 of the bytes after `shift` unknown ones, without the characters that hold unknown bits. */
function base64Inside(bytes: Uint8Array, shift: number): string {
  const padded =
    "\0".repeat(shift) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(padded).slice(Math.ceil((shift * 8) / 6), Math.floor((padded.length * 8) / 6));
}
