import { generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** A certificate and its key in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** An authority of a test's own, which no system trusts. */
export interface Authority extends Certificate {
  /** Signs a certificate: for a server on this machine, and for a client by the name. */
  readonly issue: (name: string) => Certificate;
}

/**
 * Makes an authority. The certificates are written here, because Node makes none and `openssl` is not on every
 * machine: version 3, P-256, by RFC 5280.
 */
export function makeAuthority(name: string): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = { name, key: keys.privateKey };
  return {
    ...certificate({ name, publicKey: keys.publicKey, issuer, extensions: [authorityMark] }),
    key: pemOf(keys.privateKey),
    issue: (subject) => {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const made = certificate({ name: subject, publicKey, issuer, extensions: [thisMachine] });
      return { ...made, key: pemOf(privateKey) };
    },
  };
}

interface Wanted {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  readonly extensions: readonly Buffer[];
}

let serial = 1;

function certificate({ name, publicKey, issuer, extensions }: Wanted): { readonly cert: string } {
  serial += 1;
  const signed = sequence(
    tagged(0xa0, integer(2)), // version 3
    integer(serial),
    signatureKind,
    nameOf(issuer.name),
    sequence(time("200101000000Z"), time("491231235959Z")),
    nameOf(name),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", signed, issuer.key);
  const whole = sequence(signed, signatureKind, bits(signature)).toString("base64");
  const lines = whole.match(/.{1,64}/g) ?? [];
  return {
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
  };
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** A value in DER: its tag, its length and its content. */
function tagged(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

function sequence(...content: readonly Buffer[]): Buffer {
  return tagged(0x30, ...content);
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.from([value]));
}

function time(text: string): Buffer {
  return tagged(0x17, Buffer.from(text));
}

function bits(content: Buffer): Buffer {
  return tagged(0x03, Buffer.from([0]), content);
}

/** An object identifier by its encoded bytes in hex. */
function identifier(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function nameOf(name: string): Buffer {
  const commonName = sequence(identifier("550403"), tagged(0x0c, Buffer.from(name)));
  return sequence(tagged(0x31, commonName));
}

const signatureKind = sequence(identifier("2a8648ce3d040302")); // ecdsa-with-SHA256
const yes = tagged(0x01, Buffer.from([255]));

/** Basic constraints: the certificate signs others. */
const authorityMark = sequence(identifier("551d13"), yes, tagged(0x04, sequence(yes)));

/** Alternative names: `localhost` and 127.0.0.1. */
const thisMachine = sequence(
  identifier("551d11"),
  tagged(
    0x04,
    sequence(tagged(0x82, Buffer.from("localhost")), tagged(0x87, Buffer.from([127, 0, 0, 1]))),
  ),
);
