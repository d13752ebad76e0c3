/**
 * Writes the table of models from a price map: `node scripts/model-table.ts <price map> <its date>`. The map
 * is `model_prices_and_context_window.json` of the public repository BerriAI/litellm (MIT), which has the
 * vendors' published prices of a token, by model.
 */
import { readFileSync, writeFileSync } from "node:fs";

type Row = Readonly<Record<string, unknown>>;

interface Listed {
  /** Whose rows of the map. */
  readonly provider: string;
  readonly vendor: string;
  /** Before the names in the map, and not part of the vendor's name. */
  readonly prefix?: string;
  /** The models that are taken: those that a new program would use. */
  readonly models: RegExp;
}

const listed: readonly Listed[] = [
  { provider: "anthropic", vendor: "anthropic", models: /^claude-(fable|haiku|opus|sonnet)-\d/ },
  { provider: "openai", vendor: "openai", models: /^(gpt-(4\.1|4o|5)|o[134])/ },
  { provider: "azure", vendor: "azure", prefix: "azure/", models: /^(gpt-(4\.1|4o|5)|o[134])/ },
  { provider: "gemini", vendor: "gemini", prefix: "gemini/", models: /^gemini-(2\.5|[3-9])/ },
  { provider: "vertex_ai-language-models", vendor: "vertex", models: /^gemini-(2\.5|[3-9])/ },
  {
    provider: "vertex_ai-anthropic_models",
    vendor: "vertex",
    prefix: "vertex_ai/",
    models: /^claude-(fable|haiku|opus|sonnet)-\d/,
  },
  {
    provider: "bedrock_converse",
    vendor: "bedrock",
    models: /^((us|eu|jp|au|apac|global)\.)?(anthropic\.claude-[a-z]+-[4-9]|amazon\.nova)/,
  },
  { provider: "deepseek", vendor: "deepseek", models: /^deepseek-/ },
  { provider: "xai", vendor: "xai", prefix: "xai/", models: /^grok-(4|code)/ },
  {
    provider: "mistral",
    vendor: "mistral",
    prefix: "mistral/",
    models: /-latest$|^mi[a-z]+-[a-z]+-3/,
  },
  { provider: "groq", vendor: "groq", prefix: "groq/", models: /(?:)/ },
  { provider: "cerebras", vendor: "cerebras", prefix: "cerebras/", models: /(?:)/ },
];

/** Models for sound, pictures or search, whose tokens have several prices. */
const special = /audio|tts|live|image|search|realtime|transcribe|native|robotics|guard/;
const dated = /[-@](\d{8}|\d{4}-\d{2}-\d{2}|default)$/;
/** Names of the map for the columns of a price. */
const columns = {
  input: "input_cost_per_token",
  output: "output_cost_per_token",
  cached: "cache_read_input_token_cost",
  cacheWrite: "cache_creation_input_token_cost",
  longCacheWrite: "cache_creation_input_token_cost_above_1hr",
} as const;
/** Input above which a request costs more, and how the map names it. */
const longInputs = [200_000, 272_000, 128_000, 256_000] as const;

function priceOf(row: Row, ending: string): Record<string, number> | undefined {
  const found = Object.entries(columns).flatMap(([name, column]) => {
    const dollars = row[column + ending];
    return typeof dollars === "number" ? [[name, Number((dollars * 1e6).toPrecision(8))]] : [];
  });
  const price = Object.fromEntries(found) as Record<string, number>;
  return price["input"] === undefined || price["output"] === undefined ? undefined : price;
}

function tierOf(row: Row, ending: string): object | undefined {
  const price = priceOf(row, ending);
  if (price === undefined) return undefined;
  for (const inputTokens of longInputs) {
    const long = priceOf(row, `_above_${inputTokens / 1_000}k_tokens${ending}`);
    if (long !== undefined) return { ...price, above: { inputTokens, ...long } };
  }
  return price;
}

function factsOf(vendor: string, model: string, row: Row): object {
  const usual = tierOf(row, "");
  const tiers = Object.fromEntries(
    [
      ["flex", "_flex"],
      ["priority", "_priority"],
      ["batch", "_batches"],
    ].flatMap(([tier, ending]) => {
      const price = tierOf(row, ending ?? "");
      return price === undefined ? [] : [[tier, price]];
    }),
  ) as object;
  // Empty tiers: what another tier costs is not known.
  const price = usual === undefined ? undefined : { ...usual, tiers };
  const count = (name: string): number | undefined =>
    typeof row[name] === "number" ? row[name] : undefined;
  return {
    vendor,
    model,
    window: count("max_input_tokens"),
    maxOutput: count("max_output_tokens"),
    price,
  };
}

/** True for a day before that of the table. */
function isPast(day: unknown): boolean {
  return typeof day === "string" && day <= date;
}

const [, , file = "", date = ""] = process.argv;
if (file === "" || !/^\d{4}-\d{2}-\d{2}$/.test(date)) {
  throw new Error("usage: node scripts/model-table.ts <price map> <its date, as 2026-08-08>");
}
const map = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, Row>>;
const rows = listed.flatMap(({ provider, vendor, prefix = "", models }) => {
  const own = Object.entries(map).filter(
    ([name, row]) =>
      row["litellm_provider"] === provider &&
      ["chat", "responses"].includes(String(row["mode"])) &&
      name.startsWith(prefix) &&
      !isPast(row["deprecation_date"]),
  );
  const names = new Map(own.map(([name, row]) => [name.slice(prefix.length), row]));
  return [...names]
    .filter(([name]) => models.test(name) && !special.test(name))
    .filter(([name]) => !dated.test(name) || !names.has(name.replace(dated, "")))
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, row]) => factsOf(vendor, name.replace(dated, ""), row));
});
const lines = rows.map((row) => `  ${JSON.stringify(row)},`);
writeFileSync(
  new URL("../packages/providers/src/models/table.ts", import.meta.url),
  `// Written by scripts/model-table.ts.
import type { ModelFacts } from "./model-facts.ts";

/** The day from which the table is. Vendors change prices without notice: check yours before you bill by it. */
export const modelTableDate = "${date}";

/** Where the facts are from: a public collection of the vendors' lists, and those lists. */
export const modelTableSources: Readonly<Record<string, string>> = {
  collection: "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json",
  anthropic: "https://platform.claude.com/docs/en/about-claude/pricing",
  azure: "https://azure.microsoft.com/en-us/pricing/details/cognitive-services/openai-service",
  bedrock: "https://aws.amazon.com/bedrock/pricing",
  cerebras: "https://inference-docs.cerebras.ai/models/overview",
  deepseek: "https://api-docs.deepseek.com/quick_start/pricing",
  gemini: "https://ai.google.dev/gemini-api/docs/pricing",
  groq: "https://groq.com/pricing",
  mistral: "https://mistral.ai/pricing",
  openai: "https://platform.openai.com/docs/pricing",
  vertex: "https://cloud.google.com/vertex-ai/generative-ai/pricing",
  xai: "https://docs.x.ai/docs/models",
};

/** Models, windows and prices in US dollars per million tokens, for text. */
export const modelTable: readonly ModelFacts[] = [
${lines.join("\n")}
];
`,
);
console.log(`${rows.length} models`);
