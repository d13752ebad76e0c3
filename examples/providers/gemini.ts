import { gemini } from "@millrace/providers/gemini";

// #region least
export const flash = gemini("gemini-3.5-flash"); // the key is GEMINI_API_KEY
// #endregion

// #region settings
export const careful = gemini("gemini-3.5-flash", {
  settings: {
    maxTokens: 8_000,
    temperature: 0.3,
    topP: 0.9,
    stop: ["END"], // up to five
    seed: 7,
    toolChoice: "required",
    effort: "high", // a level from Gemini 3 on, a budget before
    serviceTier: "flex",
    // the vendor's own fields
    generationConfig: { topK: 40, mediaResolution: "MEDIA_RESOLUTION_LOW" },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_ONLY_HIGH" }],
    tools: [{ googleSearch: {} }],
  },
});
// #endregion
