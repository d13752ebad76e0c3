import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import {
  checkBody,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  checkToolSchema,
  checkUnique,
  shape,
  Violations,
  word,
} from "./check.ts";
import { checkPart, functionNameRule } from "./gemini-parts.ts";

export interface GeminiRules {
  /** The model of the request: newer models are stricter. */
  readonly model?: string;
  /** Data fields of parts that are newer than this validator, which are accepted unchecked. */
  readonly later?: readonly string[];
}

/** The violations that the vendor of `generateContent` would refuse in a request's body. */
export function validateGemini(body: unknown, rules: GeminiRules = {}): string[] {
  const found = new Violations();
  if (!checkBody(found, body)) return found.list;
  checkShape(found, body, "$", bodyShape);
  checkTools(found, body);
  checkConfig(found, body, rules.model ?? "gemini-2.5-flash");
  const system = body["systemInstruction"];
  if (system !== undefined && checkShape(found, system, "$.systemInstruction", contentShape)) {
    if (checkList(found, system["parts"], "$.systemInstruction.parts")) {
      for (const [at, part] of system["parts"].entries()) {
        checkPart(found, part, `$.systemInstruction.parts[${at}]`, { place: "system" });
      }
    }
  }
  if (!checkList(found, body["contents"], "$.contents")) return found.list;
  const contents = body["contents"].map((content, at) =>
    readContent(found, content, `$.contents[${at}]`, rules.later),
  );
  checkRoles(found, contents, body["continuationToken"] !== undefined);
  checkCalls(found, contents);
  checkCode(found, contents);
  if (/^(models\/)?gemini-3/.test(rules.model ?? "")) checkSignatures(found, contents);
  else checkNoPictures(found, contents);
  return found.list;
}

const bodyShape = shape(
  "contents",
  `
    cachedContent continuationToken generationConfig labels safetySettings serviceTier store
    systemInstruction toolConfig tools`,
);
const contentShape = shape("parts", "role");

interface Content {
  readonly role: string;
  readonly parts: readonly JsonObject[];
  readonly calls: readonly JsonObject[];
  readonly results: readonly JsonObject[];
  readonly path: string;
}

function readContent(
  found: Violations,
  content: Json,
  path: string,
  later: readonly string[] | undefined,
): Content {
  const empty = { role: "", parts: [], calls: [], results: [], path };
  if (!checkShape(found, content, path, contentShape)) return empty;
  const role = word(content["role"]);
  checkOneOf(found, role, `${path}.role`, ["user", "model"]);
  if (!checkList(found, content["parts"], `${path}.parts`)) return { ...empty, role };
  for (const [at, part] of content["parts"].entries()) {
    checkPart(found, part, `${path}.parts[${at}]`, { place: role, later });
  }
  const parts = content["parts"].filter(isJsonObject);
  const calls = fieldsOf(parts, "functionCall");
  return { role, parts, calls, results: fieldsOf(parts, "functionResponse"), path };
}

/** Settings of the reply. Those of its format depend on each other. */
function checkConfig(found: Violations, body: JsonObject, model: string): void {
  const path = "$.generationConfig";
  const config = body["generationConfig"];
  if (config === undefined || !checkShape(found, config, path, configShape)) return;
  const { responseMimeType: type, responseJsonSchema: schema } = config as Partial<JsonObject>;
  if (type !== undefined) checkOneOf(found, type, `${path}.responseMimeType`, mimeTypes);
  const isJson = type === "application/json";
  if (isJson && body["tools"] !== undefined && !/^(models\/)?gemini-3/.test(model)) {
    found.add(`${path}.responseMimeType`, "JSON beside tools, which the model does not take");
  }
  if (schema === undefined) return;
  if (!isJson) found.add(`${path}.responseJsonSchema`, "only taken for JSON");
  if (config["responseSchema"] !== undefined) found.add(path, "two schemas");
  if (/^(models\/)?gemini-(1|2\.0)/.test(model)) {
    found.add(`${path}.responseJsonSchema`, "not for this model");
  }
  if (!isJsonObject(schema)) found.add(`${path}.responseJsonSchema`, "not an object");
  if (/"\$ref":"[^"]*","(?!\$)|,"\$ref":"/.test(JSON.stringify(schema))) {
    found.add(`${path}.responseJsonSchema`, "something beside a reference");
  }
}

const mimeTypes = ["text/plain", "application/json", "text/x.enum"];
const configShape = shape(
  "",
  `
    audioTimestamp candidateCount enableEnhancedCivicAnswers frequencyPenalty imageConfig logprobs
    maxOutputTokens mediaResolution presencePenalty responseFormat responseJsonSchema
    responseLogprobs responseMimeType responseModalities responseSchema seed speechConfig
    stopSequences temperature thinkingConfig topK topP`,
);

function checkTools(found: Violations, body: JsonObject): void {
  const tools = body["tools"];
  if (tools === undefined || !checkList(found, tools, "$.tools")) return;
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const path = `$.tools[${at}]`;
    if (!isJsonObject(tool)) {
      found.add(path, "not an object");
      continue;
    }
    const computer = tool["computerUse"];
    if (
      computer !== undefined &&
      checkShape(found, computer, `${path}.computerUse`, computerShape)
    ) {
      checkOneOf(found, computer["environment"], `${path}.computerUse.environment`, environments);
    }
    const declared = tool["functionDeclarations"];
    if (declared === undefined) continue;
    if (!checkList(found, declared, `${path}.functionDeclarations`)) continue;
    for (const [index, each] of declared.entries()) {
      checkDeclaration(found, each, `${path}.functionDeclarations[${index}]`, names);
    }
  }
}

const environments = ["ENVIRONMENT_BROWSER", "ENVIRONMENT_MOBILE", "ENVIRONMENT_DESKTOP"];
const computerShape = shape(
  "environment",
  "disabledSafetyPolicies enablePromptInjectionDetection excludedPredefinedFunctions",
);

function checkDeclaration(
  found: Violations,
  declared: Json,
  path: string,
  names: Set<string>,
): void {
  if (!checkShape(found, declared, path, declarationShape)) return;
  if (checkText(found, declared["name"], `${path}.name`, functionNameRule)) {
    checkUnique(found, names, declared["name"], `${path}.name`);
  }
  if (declared["description"] !== undefined) {
    checkText(found, declared["description"], `${path}.description`, { empty: "allowed" });
  }
  const { parameters, parametersJsonSchema: schema } = declared as Record<string, Json>;
  if (parameters !== undefined && schema !== undefined) {
    found.add(path, "both parameters and parametersJsonSchema");
  }
  if (schema !== undefined) {
    const at = `${path}.parametersJsonSchema`;
    checkToolSchema(found, schema, at, { properties: "optional", choices: "allowed" });
  }
}

const declarationShape = shape(
  "name",
  "description behavior parameters parametersJsonSchema response responseJsonSchema",
);

/** Turns alternate, except for user input after the results of calls. */
function checkRoles(found: Violations, contents: readonly Content[], resumes: boolean): void {
  if (contents[0]?.role !== "user") found.add("$.contents[0]", "the first one is not the user");
  if (contents.at(-1)?.role !== "user" && !resumes) {
    found.add("$.contents", "the last one is not the user");
  }
  for (const [at, { role, path }] of contents.entries()) {
    const before = contents[at - 1];
    if (before?.role !== role || isResults(before)) continue;
    found.add(path, `${role} twice in a row`);
  }
}

function isResults({ parts }: Content): boolean {
  return parts.length > 0 && parts.every((part) => part["functionResponse"] !== undefined);
}

/** The objects in one field of the parts. */
function fieldsOf(parts: readonly JsonObject[], field: string): readonly JsonObject[] {
  return parts.flatMap((part) => {
    const inner = part[field];
    return isJsonObject(inner) ? [inner] : [];
  });
}

/** As many results as calls, directly after them, with the same names and, where given, ids. */
function checkCalls(found: Violations, contents: readonly Content[]): void {
  const ids = new Set<string>();
  for (const [at, { calls, results: own, path }] of contents.entries()) {
    const results = contents[at + 1]?.results ?? [];
    if (at === 0 && own.length > 0) {
      found.add(path, "results without a turn of calls before them");
    }
    for (const { id } of calls) {
      if (typeof id === "string") checkUnique(found, ids, id, path);
    }
    if (calls.length !== results.length) {
      found.add(path, `${calls.length} calls, but ${results.length} results in the next turn`);
      continue;
    }
    for (const [index, call] of calls.entries()) {
      const result = results[index];
      if (call["name"] !== result?.["name"]) found.add(path, `result ${index} has another name`);
      if (call["id"] !== result?.["id"]) found.add(path, `result ${index} has another id`);
    }
  }
}

/** The result of the vendor's code follows the code, and no code is without a result. */
function checkCode(found: Violations, contents: readonly Content[]): void {
  for (const { parts, path } of contents) {
    for (const [at, part] of parts.entries()) {
      const after = parts[at + 1];
      const before = parts[at - 1];
      if (part["executableCode"] !== undefined && after?.["codeExecutionResult"] === undefined) {
        found.add(`${path}.parts[${at}]`, "code without its result");
      }
      const isBehind =
        before?.["executableCode"] !== undefined || before?.["codeExecutionResult"] !== undefined;
      if (part["codeExecutionResult"] !== undefined && !isBehind) {
        found.add(`${path}.parts[${at}]`, "a result without its code");
      }
    }
    const uses = fieldsOf(parts, "toolCall").map(({ id }) => id);
    const answers = fieldsOf(parts, "toolResponse").map(({ id }) => id);
    if (uses.length !== answers.length || uses.some((id) => !answers.includes(id))) {
      found.add(path, "tools of the vendor without their results");
    }
  }
}

/** From the third generation on, the first call of each turn must be signed. */
function checkSignatures(found: Violations, contents: readonly Content[]): void {
  for (const { parts, path } of contents) {
    const first = parts.find(({ functionCall }) => functionCall !== undefined);
    if (first !== undefined && first["thoughtSignature"] === undefined) {
      found.add(path, "the first call is missing a thoughtSignature");
    }
  }
}

/** Before that, a result can't contain images. */
function checkNoPictures(found: Violations, contents: readonly Content[]): void {
  for (const { results, path } of contents) {
    if (results.some((result) => result["parts"] !== undefined)) {
      found.add(path, "a result with parts, which the model does not take");
    }
  }
}
