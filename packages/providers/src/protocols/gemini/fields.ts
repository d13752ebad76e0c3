import type { Json, JsonObject } from "@millrace/core";
import type { RequestSettings } from "@millrace/core/ports";

/**
 * Settings for Gemini's API: those that all vendors share, and its own fields. Fields that are not listed
 * are sent too. From the types of @google/genai 2.32.0.
 */
export interface GeminiSettings extends RequestSettings {
  readonly generationConfig?: GenerationConfig | undefined;
  readonly safetySettings?:
    | readonly { readonly category: string; readonly threshold: string }[]
    | undefined;
  readonly toolConfig?: JsonObject | undefined;
  /** Tools that the vendor runs, beside those of the request. */
  readonly tools?: readonly JsonObject[] | undefined;
  /** The name of a cached content. */
  readonly cachedContent?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Its parts follow the request's own instructions. */
  readonly systemInstruction?: JsonObject | undefined;
}

// A type and not an interface, because settings are JSON.
type GenerationConfig = {
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly candidateCount?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly responseLogprobs?: boolean;
  readonly logprobs?: number;
  readonly responseMimeType?: string;
  readonly responseJsonSchema?: Json;
  readonly responseModalities?: readonly string[];
  readonly mediaResolution?: string;
  readonly speechConfig?: JsonObject;
  readonly imageConfig?: JsonObject;
  readonly thinkingConfig?: {
    readonly includeThoughts?: boolean;
    readonly thinkingBudget?: number;
    readonly thinkingLevel?: string;
  };
};
