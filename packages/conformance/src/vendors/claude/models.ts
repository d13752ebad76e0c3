/** Where a Claude model is served. Some rules differ. */
export type Platform = "api" | "bedrock";

/** A model by its family and version: `claude-opus-5-5` is opus, 505. */
export interface ClaudeModel {
  readonly name: string;
  readonly family: string;
  readonly version: number;
}

const named = /claude-(fable|mythos|opus|sonnet|haiku)-(\d)(?:-(\d{1,2}))?(?!\d)/;
const older = /claude-(\d)(?:-(\d))?-(opus|sonnet|haiku)/;

/** Reads the name of a model, also with a date or a region around it. */
export function claudeModel(name: string): ClaudeModel {
  const [, family, major, minor = "0"] = named.exec(name) ?? [];
  if (family !== undefined) return { name, family, version: Number(major) * 100 + Number(minor) };
  const [, first, second = "0", old = "unknown"] = older.exec(name) ?? [];
  return { name, family: old, version: Number(first ?? 0) * 100 + Number(second) };
}

/** The same for all names of a model, so that signatures hold whichever name is used. */
function modelKey({ family, version }: ClaudeModel): string {
  return `${family}-${version}`;
}

function isFableOrMythos({ family }: ClaudeModel): boolean {
  return family === "fable" || family === "mythos";
}

/** True for the models that check whether anything before a thinking block has changed. */
export function checksPrefix(model: ClaudeModel, platform: Platform): boolean {
  if (model.family === "mythos" && model.version === 501) return platform === "api";
  return model.version >= (isFableOrMythos(model) ? 501 : 505);
}

/** True for the models whose thinking blocks belong to the account that produced them. */
export function isAccountBound({ family, version }: ClaudeModel, platform: Platform): boolean {
  if (platform === "bedrock") return true;
  return version >= 505 && (family === "sonnet" || family === "haiku");
}

/** True if a model reads the thinking of another one. It drops what it can't read. */
export function readsThinking(
  reader: ClaudeModel,
  writer: ClaudeModel,
  platform: Platform,
): boolean {
  if (modelKey(reader) === modelKey(writer)) return true;
  const isApi = platform === "api";
  if (isFableOrMythos(writer)) return isFableOrMythos(reader) && reader.version >= writer.version;
  switch (modelKey(writer)) {
    case "haiku-505":
      return !isApi;
    case "sonnet-505":
      return isApi && modelKey(reader) === "opus-505";
    case "opus-505":
      return isApi && isFableOrMythos(reader) && reader.version >= 501;
    default:
  }
  if (isFableOrMythos(reader) || modelKey(reader) === "opus-505") return true;
  if (modelKey(reader) === "haiku-505") return false;
  if (modelKey(reader) === "sonnet-505") return modelKey(writer) !== "opus-500";
  return writer.version <= reader.version;
}

/** True for the models that take `system` messages, and tool changes in them. */
export function takesSystemMessages({ family, version }: ClaudeModel): boolean {
  switch (family) {
    case "fable":
    case "mythos":
      return version >= 500;
    case "opus":
      return version >= 408;
    default:
      return version >= 505;
  }
}

/** True for the models whose effort can change between messages. */
export function takesEffortMessages(model: ClaudeModel): boolean {
  return model.version >= (isFableOrMythos(model) ? 501 : 500) && modelKey(model) !== "sonnet-500";
}

/** True for the models that summarise on request. */
export function takesCompaction({ family, version }: ClaudeModel): boolean {
  return version >= (family === "haiku" ? 505 : 406);
}

/** True for the models that think unless it is disabled. */
export function thinksByDefault({ version }: ClaudeModel): boolean {
  return version >= 500;
}
