import { redact } from "@millrace/core/secrets";

/** The character before a key is not part of a base64 text. */
export const beforeSecret: string = "(?<![A-Za-z0-9+/_-])";

/** Requires a digit, so that words with hyphens do not match. Keys of this length contain one. */
const digit = "(?=[-_A-Za-z0-9]*[0-9])";

/** The forms of vendors' keys. The only list of them. */
export const secrets: RegExp = new RegExp(
  [
    `${beforeSecret}(?:sk|pk|rk|xai|gsk|csk|pplx|nvapi|glpat)[-_]${digit}[-_A-Za-z0-9]{16,}`,
    `${beforeSecret}(?:ghp|gho|hf|r8|fw|tgp)_${digit}[A-Za-z0-9]{20,}`,
    `${beforeSecret}AIza[-_A-Za-z0-9]{30,}`,
    `${beforeSecret}ya29\\.[-_A-Za-z0-9.]{16,}`,
    `${beforeSecret}(?:AKIA|ASIA)[A-Z0-9]{16}`,
    `${beforeSecret}eyJ[-_A-Za-z0-9]{8,}\\.[-_A-Za-z0-9]{8,}\\.[-_A-Za-z0-9]{8,}`,
    "(?<=\\b[Bb]earer )[-_A-Za-z0-9.~+/=]{16,}",
    // Ends at the next beginning, so that a text of beginnings alone is searched once.
    "-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN).)*?-----END [A-Z ]{0,40}PRIVATE KEY-----",
  ].join("|"),
  "gs",
);

/**
 * The beginning of a vendor's text for a message or a log: short, on one line, and without secrets.
 * Those that this process knows are replaced before the text is cut, so that no part of one is left; what
 * only looks like a key, in the beginning alone.
 */
export function excerpt(text: string, length = 512): string {
  return redact(text)
    .slice(0, length * 2)
    .replaceAll(secrets, "[redacted]")
    .replaceAll(/\p{Cc}/gu, " ")
    .slice(0, length)
    .toWellFormed();
}
