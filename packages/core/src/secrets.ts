// Keeping secrets out of errors, logs and traces.
export { redact, registerSecret, rememberCredential } from "./secrets/known-secrets.ts";
export type { Secret } from "./secrets/known-secrets.ts";
export { formsOf } from "./secrets/forms.ts";
export { rememberHeaders, rememberUrl, redactedUrl } from "./secrets/credentials.ts";
export { redactData, redactedMessage, redactError, secretsInData } from "./secrets/redact-data.ts";
