import { readFileSync } from "node:fs";
import { metadataToken, serviceAccount, vertex } from "@millrace/providers/vertex";
import type { ServiceAccountKey } from "@millrace/providers/vertex";
import { vertexAnthropic } from "@millrace/providers/vertex-anthropic";

// #region gemini
// Project and location are those of GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, if they are left out.
export const flash = vertex("gemini-3.5-flash", {
  project: "my-project",
  location: "global",
  token: async () => process.env["GOOGLE_TOKEN"] ?? "t", // asked for each request
  settings: { maxTokens: 8_000, effort: "low", metadata: { team: "search" } },
});

/** On Google's own machines the token is the machine's. */
export function onGoogle() {
  return vertex("gemini-3.5-flash", {
    project: "my-project",
    location: "global",
    token: metadataToken(),
  });
}
// #endregion

// #region claude
export function claude(keyFile: string) {
  const key = JSON.parse(readFileSync(keyFile, "utf8")) as ServiceAccountKey; // the file of a service account
  return vertexAnthropic("claude-sonnet-4-5@20250929", {
    project: "my-project",
    location: "us-east5",
    token: serviceAccount(key),
    settings: { maxTokens: 16_000, cache: true },
  });
}
// #endregion
