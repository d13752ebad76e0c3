import { Random } from "../kit/random.ts";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Kinds of secrets that programs have: tokens, passwords, passphrases, private keys. */
const kinds: readonly ((random: Random) => string)[] = [
  (random) => `sk-${textOf(random, letters, 24 + random.below(40))}`,
  (random) => textOf(random, "0123456789abcdef", 32),
  (random) => textOf(random, `${letters}+/`, 40),
  (random) => textOf(random, `${letters}!"#$%&'()*+,-./:;<=>?@[]^_{|}~\\ `, 16 + random.below(16)),
  (random) => Array.from({ length: 4 }, () => textOf(random, "abcdeöüßλ漢", 6)).join(" "),
  (random) =>
    `-----BEGIN PRIVATE KEY-----\n${textOf(random, letters, 64)}\n${textOf(random, letters, 40)}\n-----END PRIVATE KEY-----`,
];

function textOf(random: Random, alphabet: string, length: number): string {
  const characters = Array.from(alphabet);
  return Array.from({ length }, () => random.pick(characters)).join("");
}

/** As many different secrets, the same for the same seed. */
export function secretsOf(seed: number, count: number): readonly string[] {
  const random = new Random(seed);
  const secrets = new Set<string>();
  while (secrets.size < count) secrets.add(random.pick(kinds)(random));
  return [...secrets];
}

/** The five encodings, of a secret within other text. */
export const encodings: readonly ((secret: string, at: number) => string)[] = [
  (secret) => secret,
  (secret, at) => Buffer.from(`${"k".repeat(at % 3)}${secret}=end`).toString("base64"),
  (secret, at) => Buffer.from(`${"k".repeat(at % 3)}${secret}=end`).toString("base64url"),
  (secret) => Buffer.from(secret).toString("hex"),
  (secret) => encodeURIComponent(secret),
];

/** What none of the sinks may hold: each encoding, in base64 what depends on the secret alone. */
function needlesOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = (form: "base64" | "base64url"): readonly string[] =>
    [0, 1, 2].map((shift) => {
      const from = shift === 0 ? 0 : 4;
      const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString(form);
      return text.slice(from, 4 * Math.floor((bytes.length + shift) / 3));
    });
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("hex"),
    encodeURIComponent(secret),
    ...inBase64("base64"),
    ...inBase64("base64url"),
  ];
}

/** The secrets that a text holds in some encoding. */
export function leaked(text: string, secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => needlesOf(secret).some((needle) => text.includes(needle)));
}

/** Words with every secret in every encoding. */
export function wordsWith(secrets: readonly string[]): string {
  return secrets
    .map((secret, at) => encodings.map((encode) => encode(secret, at)).join(" "))
    .join(" ");
}
