// Keeping secrets out of errors, logs and traces.
export { registerSecret, rememberCredential, redact } from "./secrets/known-secrets.ts";
export type { Secret } from "./secrets/known-secrets.ts";
export { formsOf } from "./secrets/forms.ts";
export { redactData, redactedMessage, redactError, secretsInData } from "./secrets/redact-data.ts";
