import { expects, shown } from "@millrace/core/checks";
import type { OptionCheck, OptionChecks } from "@millrace/core/checks";
import { bearerAuth, keyAuth } from "./auth.ts";
import type { Key } from "./auth.ts";
import { addressCheck, keyCheck, notHere } from "./check-options.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Auth } from "./sign.ts";

/** Where a model of Vertex AI runs, and the token for it. */
export interface VertexPlace {
  /** Default: `GOOGLE_CLOUD_PROJECT`. */
  readonly project?: string | undefined;
  /** A region such as `europe-west4`, or `us`, `eu`, `global`. Default: `GOOGLE_CLOUD_LOCATION`, then `global`. */
  readonly location?: string | undefined;
  /**
   * An access token, or a function that returns one and is called for each request: `serviceAccount(key)`,
   * `metadataToken()`, or one of your own.
   */
  readonly token?: Key | undefined;
  /**
   * The host and the version, such as a private endpoint's `https://vertex.acme.example/v1`. Default: the
   * location's public address.
   */
  readonly baseUrl?: string | undefined;
}

/** They become parts of the address, so nothing else may stand in them. */
const word = (fix: string): OptionCheck => ({
  accepts: (value) => typeof value === "string" && /^[\w.:-]+$/.test(value),
  fix,
});
const projectCheck: OptionCheck = word('use the id of the project, as in "my-project"');
const locationCheck: OptionCheck = word('use a location such as "europe-west4" or "global"');

/** Checks of the options above. */
export const placeChecks: OptionChecks<VertexPlace> = {
  project: expects.optional(projectCheck),
  location: expects.optional(locationCheck),
  token: expects.optional(keyCheck),
  baseUrl: expects.optional(addressCheck),
};

/** Claude on Vertex takes no API keys. */
export const noKey: OptionCheck = notHere("Vertex wants an access token here: pass token");

/**
 * The address of a project's models. The environment is read for each request. Hosts are those of
 * https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations: `us` and `eu` are multi-regions.
 */
export function placeOf(place: VertexPlace, version: string): Endpoint {
  return {
    get baseUrl() {
      if (placeFault(place) !== undefined) return "";
      const { project, location } = namesOf(place);
      const base = place.baseUrl?.replace(/\/+$/, "") ?? `https://${hostOf(location)}/${version}`;
      return `${base}/projects/${project}/locations/${location}`;
    },
    get missing() {
      return placeFault(place);
    },
  };
}

/** The names of the options or of the environment. Empty counts as unset there: shells unset a variable so. */
function namesOf({
  project,
  location,
}: VertexPlace): Readonly<Record<"project" | "location", string>> {
  return {
    project: project ?? process.env["GOOGLE_CLOUD_PROJECT"] ?? "",
    location: location ?? (process.env["GOOGLE_CLOUD_LOCATION"] || "global"),
  };
}

/** Why there is no address. Options were checked when the model was made; the environment is checked here. */
function placeFault(place: VertexPlace): string | undefined {
  const { project, location } = namesOf(place);
  if (project === "") return "pass project, or set GOOGLE_CLOUD_PROJECT";
  if (!projectCheck.accepts(project)) {
    return `GOOGLE_CLOUD_PROJECT is ${shown(project)}: ${projectCheck.fix}`;
  }
  return locationCheck.accepts(location)
    ? undefined
    : `GOOGLE_CLOUD_LOCATION is ${shown(location)}: ${locationCheck.fix}`;
}

function hostOf(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
}

/** The address for a key of the express mode, which belongs to a project by itself. */
export function expressPlace(baseUrl: string | undefined, version: string): Endpoint {
  return { baseUrl: baseUrl ?? `https://aiplatform.googleapis.com/${version}` };
}

/** Sends the token, or says how to get one. */
export function tokenAuth(token: Key | undefined): Auth {
  if (token !== undefined) return bearerAuth(token);
  return () => "there is no token: pass token, such as serviceAccount(key) or metadataToken()";
}

/** Sends the key of the express mode. */
export function expressAuth(apiKey: Key): Auth {
  return keyAuth(apiKey, { variable: "", header: "x-goog-api-key" });
}
