import type { SeenAnswer } from "./caller.ts";

type Node = Readonly<Record<string, unknown>>;

/**
 * What was seen and what an OpenAPI document does not describe: routes, statuses, media types, and JSON
 * that its schema refuses. One line for each, none twice. Answers before any route, as an unknown path
 * or a refused host, are described by their problem only.
 */
export function undescribed(document: object, seen: readonly SeenAnswer[]): readonly string[] {
  const root = document as Node;
  const paths = node(root["paths"]);
  const found = new Set<string>();
  for (const answer of seen) {
    const { method, path, status, type, text } = answer;
    const template = templateOf(paths, path);
    if (template === undefined) continue;
    const verb = method === "HEAD" ? "get" : method.toLowerCase();
    const operation = node(node(paths[template])[verb]);
    if (status === 405 || method === "OPTIONS") continue;
    const where = `${method} ${template} ${status}`;
    const responses = node(operation["responses"]);
    const response = follow(root, responses[String(status)] ?? responses["default"]);
    if (response === undefined) {
      found.add(`${where}: the status is not described`);
      continue;
    }
    if (text === "") continue;
    const media = type.replace(/;.*/s, "");
    const content = node(response["content"]);
    const described = content[media] ?? content["*/*"];
    if (described === undefined) {
      found.add(`${where}: the type ${media} is not described`);
      continue;
    }
    if (!/\bjson$/.test(media)) continue;
    const fault = faultOf(root, node(described)["schema"], JSON.parse(text), "");
    if (fault !== undefined) found.add(`${where}: ${fault}`);
  }
  return [...found];
}

/** The path of the document that this path is one of; fixed segments win over parameters. */
function templateOf(paths: Node, path: string): string | undefined {
  const segments = path.split("/");
  const fits = (template: string): boolean => {
    const parts = template.split("/");
    return (
      parts.length === segments.length &&
      parts.every((part, at) => part.startsWith("{") || part === segments[at])
    );
  };
  const found = Object.keys(paths).filter(fits);
  return found.toSorted((a, b) => a.split("{").length - b.split("{").length)[0];
}

/** Where and how a value breaks a schema; undefined if it fits. Knows what our documents use. */
function faultOf(root: Node, asked: unknown, value: unknown, at: string): string | undefined {
  if (asked === true || asked === undefined) return undefined;
  const schema = follow(root, asked);
  if (schema === undefined) return `${at || "it"} has a schema that is not there`;
  const here = `${at || "it"} is ${JSON.stringify(value).slice(0, 80)}`;
  const options = (schema["oneOf"] ?? schema["anyOf"]) as readonly unknown[] | undefined;
  if (options !== undefined) {
    const faults = options.map((option) => faultOf(root, option, value, at));
    if (faults.every((fault) => fault !== undefined)) return faults.join(" and ");
  }
  for (const part of (schema["allOf"] ?? []) as readonly unknown[]) {
    const fault = faultOf(root, part, value, at);
    if (fault !== undefined) return fault;
  }
  const type = schema["type"] as string | readonly string[] | undefined;
  if (type !== undefined && ![type].flat().some((one) => isOf(one, value)))
    return `${here}, not of type ${JSON.stringify(type)}`;
  const values = schema["enum"] as readonly unknown[] | undefined;
  if (values !== undefined && !values.includes(value))
    return `${here}, none of ${values.join(", ")}`;
  if (schema["const"] !== undefined && schema["const"] !== value)
    return `${here}, not the constant`;
  const pattern = schema["pattern"];
  if (
    typeof pattern === "string" &&
    typeof value === "string" &&
    !new RegExp(pattern, "u").test(value)
  )
    return `${here}, which ${pattern} does not match`;
  if (Array.isArray(value))
    return firstFault(
      root,
      value.map((one, index) => [schema["items"], one, `${at}/${index}`]),
    );
  if (typeof value !== "object" || value === null) return undefined;
  return objectFault(root, schema, value as Node, at);
}

function objectFault(root: Node, schema: Node, value: Node, at: string): string | undefined {
  const properties = node(schema["properties"]);
  for (const name of (schema["required"] ?? []) as readonly string[])
    if (!Object.hasOwn(value, name)) return `${at || "it"} has no ${name}`;
  const rest = schema["additionalProperties"];
  const fields = Object.entries(value).map(([name, inside]): [unknown, unknown, string] => [
    properties[name] ?? rest,
    inside,
    `${at}/${name}`,
  ]);
  for (const [shape, , name] of fields)
    if (shape === false || (shape === undefined && schema["properties"] !== undefined))
      return `${name} is not described`;
  return firstFault(root, fields);
}

function firstFault(
  root: Node,
  fields: readonly (readonly [unknown, unknown, string])[],
): string | undefined {
  for (const [schema, value, at] of fields) {
    const fault = faultOf(root, schema, value, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isOf(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object")
    return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** A node, or the one that its reference names. */
function follow(root: Node, asked: unknown): Node | undefined {
  const found = asked as Node | undefined;
  const reference = found?.["$ref"];
  if (typeof reference !== "string") return found;
  let at: unknown = root;
  for (const name of reference.split("/").slice(1)) at = node(at)[name];
  return follow(root, at);
}

function node(value: unknown): Node {
  return typeof value === "object" && value !== null ? (value as Node) : {};
}
