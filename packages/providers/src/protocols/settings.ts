import { shown } from "@millrace/core/checks";
import { equalJson, isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { ModelRequest, ModelSettings, RequestSettings } from "@millrace/core/ports";
import type { SettingContext, SettingName, SettingRow, SettingsTable } from "../settings.ts";
import { valueAt } from "./read.ts";
import { RequestRefusal } from "./refusal.ts";
import { settingChecks } from "./setting-values.ts";

/** The settings of a request in the vendor's form. */
export interface AppliedSettings {
  /** The vendor's fields: its own as they were given, and those of the shared settings. */
  readonly fields: JsonObject;
  /** The shared settings, checked, for what a protocol places by itself. */
  readonly shared: ModelSettings;
}

/**
 * Translates the settings of a request by a table. Everything given is in the fields, or the vendor does
 * it by itself; for the rest it throws a `RequestRefusal` with the vendor, the setting and what to do.
 */
export function applySettings(
  table: SettingsTable,
  { settings = {}, tools = [], conversation }: ModelRequest,
  model: string,
): AppliedSettings {
  const { own, shared: asked } = divided(table, settings);
  const shared = {
    ...usualSettings(table, settings, { model, shared: asked, own }, conversation),
    ...asked,
  };
  const names = tools.map(({ name }) => name);
  refuseContradictions(table, shared, { names, own });
  const given: SettingContext = { model, shared, own };
  const hasTools = names.length > 0 || hasOwnTools(table, own);
  const writer = new FieldWriter(table, own);
  for (const name of settingNames) {
    const value = shared[name];
    // Without tools there is no choice, and vendors refuse to be asked for one.
    if (value === undefined || (!hasTools && aboutTools.includes(name))) continue;
    const row = table.rows[name] as SettingRow<typeof value>;
    switch (row.kind) {
      case "sent":
        writer.write(name, value, row.fields(value, given), row.rivals ?? []);
        break;
      case "inherent": {
        const instead = row.unless?.(value, given);
        if (instead !== undefined) throw refuse(table, name, value, instead);
        break;
      }
      case "refused":
        throw refuse(table, name, value, row.instead);
      default:
        row satisfies never;
    }
  }
  return { fields: writer.fields, shared };
}

/** The values that settings have in a conversation, of those that were not given in any form. */
function usualSettings(
  { rows }: SettingsTable,
  settings: RequestSettings,
  given: SettingContext,
  conversation: ModelRequest["conversation"],
): ModelSettings {
  if (conversation === undefined) return {};
  const usual = settingNames.flatMap((name) => {
    const row: SettingRow<never> = rows[name];
    if (row.kind !== "sent" || settings[name] !== undefined) return [];
    const paths = [...row.as, ...(row.rivals ?? [])];
    if (paths.some((path) => valueAt(given.own, path) !== undefined)) return [];
    const value = row.inConversation?.(conversation, given);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(usual);
}

/** All shared settings, in the order of their documentation. */
export const settingNames: readonly SettingName[] = Object.keys(settingChecks) as SettingName[];

const aboutTools: readonly SettingName[] = ["toolChoice", "parallelTools"];

/** True if the vendor's own fields have tools. */
function hasOwnTools({ tools = "tools" }: SettingsTable, own: JsonObject): boolean {
  return valueAt(own, tools) !== undefined;
}

/** The refusal of a setting. */
export function refuse(
  { vendor }: SettingsTable,
  name: SettingName,
  value: unknown,
  instead: string,
): RequestRefusal {
  const message = `${vendor} does not take the setting ${name} (${shown(value)}): ${instead}`;
  return new RequestRefusal(message, { setting: name });
}

/** True if the value is the vendor's own field that has the name of a shared setting. */
export function isOwnField({ rows }: SettingsTable, name: SettingName, value: Json): boolean {
  const row: SettingRow<never> = rows[name];
  return row.kind === "sent" && (row.isOwn?.(value) ?? (value === null && row.as.includes(name)));
}

/** Fields that the request itself decides, each with what to do instead. */
const decided: Readonly<Record<string, string>> = {
  model: "name it where the model is made",
  stream: "leave it out, because every reply is streamed",
  ...Object.fromEntries(
    ["messages", "input", "contents"].map((field) => [
      field,
      "the transcript is sent by this name",
    ]),
  ),
  ...Object.fromEntries(
    ["previous_response_id", "conversation"].map((field) => [
      field,
      "leave it out, because the whole transcript is sent, and the vendor would put its own copy before it",
    ]),
  ),
};

function divided(
  table: SettingsTable,
  settings: RequestSettings,
): { readonly own: JsonObject; readonly shared: ModelSettings } {
  const own: Record<string, Json> = {};
  const shared: Record<string, Json> = {};
  for (const [name, value] of Object.entries(settings as Partial<JsonObject>)) {
    if (value === undefined) continue;
    const instead = decided[name];
    if (instead !== undefined) {
      const message = `${table.vendor} does not get ${name} by a setting: ${instead}`;
      throw new RequestRefusal(message, { setting: name });
    }
    if (!isShared(table, name) || isOwnField(table, name, value)) own[name] = value;
    else {
      const { accepts, fix } = settingChecks[name];
      if (!accepts(value)) throw refuse(table, name, value, fix);
      if (!isNothing(name, value)) shared[name] = value;
    }
  }
  return { own, shared };
}

function isShared({ rows }: SettingsTable, name: string): name is SettingName {
  return Object.hasOwn(rows, name);
}

/** No stop texts and no labels ask for nothing, and vendors refuse them empty; nor does `cache: false`. */
function isNothing(name: SettingName, value: Json): boolean {
  if (name === "cache" && value === false) return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Refuses settings that no vendor could follow together. */
function refuseContradictions(
  table: SettingsTable,
  { toolChoice, effort, thinking }: ModelSettings,
  { names, own }: { readonly names: readonly string[]; readonly own: JsonObject },
): void {
  const thinks = thinking !== undefined && thinking !== false;
  if (effort !== undefined && thinking !== undefined && thinks === (effort === "none")) {
    throw refuse(table, "effort", effort, `thinking is ${shown(thinking)}: leave one of them out`);
  }
  // The names of the vendor's own tools are not known.
  if (toolChoice === undefined || hasOwnTools(table, own)) return;
  if (typeof toolChoice === "object" && !names.includes(toolChoice.tool)) {
    const instead = `no tool ${JSON.stringify(toolChoice.tool)} is offered: offer it, or leave the setting out`;
    throw refuse(table, "toolChoice", toolChoice, instead);
  }
  if (toolChoice === "required" && names.length === 0) {
    throw refuse(table, "toolChoice", toolChoice, "offer tools, or leave the setting out");
  }
}

/** Puts fields together. Two values for one field are refused, with the names of both settings. */
class FieldWriter {
  readonly #table: SettingsTable;
  readonly #own: JsonObject;
  /** The setting that wrote a field. */
  readonly #writers = new Map<string, SettingName>();
  fields: JsonObject;

  constructor(table: SettingsTable, own: JsonObject) {
    this.#table = table;
    this.#own = own;
    this.fields = own;
  }

  write(
    name: SettingName,
    value: unknown,
    fields: JsonObject | string,
    rivals: readonly string[],
  ): void {
    if (typeof fields === "string") throw refuse(this.#table, name, value, fields);
    const rival = rivals.find((path) => valueAt(this.#own, path) !== undefined);
    if (rival !== undefined) throw this.#twice(name, value, rival);
    this.fields = this.#merged(name, value, this.fields, fields, "");
  }

  #merged(
    name: SettingName,
    value: unknown,
    into: JsonObject,
    fields: JsonObject,
    place: string,
  ): JsonObject {
    const all: Record<string, Json> = { ...into };
    for (const [key, field] of Object.entries(fields)) {
      const path = place + key;
      const before = into[key];
      if (isJsonObject(field) && isJsonObject(before)) {
        all[key] = this.#merged(name, value, before, field, `${path}.`);
      } else if (before === undefined) {
        all[key] = field;
        this.#writers.set(path, name);
      } else if (!this.#writers.has(path) || !equalJson(before, field)) {
        throw this.#twice(name, value, path);
      }
    }
    return all;
  }

  #twice(name: SettingName, value: unknown, path: string): RequestRefusal {
    const other = this.#writers.get(path) ?? path;
    return refuse(
      this.#table,
      name,
      value,
      `${other} is given too, and sets the same: leave one out`,
    );
  }
}
