import type { Item, Json, Part } from "@millrace/core";

/** How items are written into a file for people. Everything of an item is data: it can't forge a heading or a tag. */
export interface ExportFormat {
  readonly mediaType: string;
  readonly extension: string;
  readonly head: (sessionId: string, title: string | undefined) => string;
  /** The session of a sub-agent begins. */
  readonly child: (sessionId: string) => string;
  readonly item: (item: Item) => string;
  readonly foot: string;
}

/** CommonMark. Text is quoted line by line, so that only our own lines are headings. */
export const markdown: ExportFormat = {
  mediaType: "text/markdown; charset=utf-8",
  extension: "md",
  head: (sessionId, title) => `# ${escapeMarkdown(oneLine(title ?? sessionId))}\n`,
  child: (sessionId) => `\n# ${escapeMarkdown(oneLine(sessionId))}\n`,
  item: ({ author, parts }) => `\n## ${author}\n${parts.map(markdownPart).join("")}`,
  foot: "",
};

/** One page without scripts, styles or addresses of others. */
export const html: ExportFormat = {
  mediaType: "text/html; charset=utf-8",
  extension: "html",
  head: (sessionId, title) =>
    `<!doctype html>\n<meta charset="utf-8">\n<title>${escapeHtml(title ?? sessionId)}</title>\n<h1>${escapeHtml(title ?? sessionId)}</h1>\n`,
  child: (sessionId) => `<h1>${escapeHtml(sessionId)}</h1>\n`,
  item: ({ author, parts }) =>
    `<section>\n<h2>${author}</h2>\n${parts.map(htmlPart).join("")}</section>\n`,
  foot: "",
};

interface ExportedPart {
  /** What it is, beside its text. */
  readonly label?: string;
  readonly text: string;
  /** Shown as it is, letter by letter. */
  readonly verbatim: boolean;
}

function shown(part: Part): ExportedPart {
  switch (part.kind) {
    case "text":
      return { text: part.text, verbatim: false };
    case "reasoning":
      return { label: "reasoning", text: part.text, verbatim: false };
    case "tool_call":
      return { label: `call ${part.tool}`, text: part.raw, verbatim: true };
    case "tool_result":
      return { label: `${part.status} ${part.tool}`, text: part.text, verbatim: true };
    case "file":
    case "media": {
      const name = part.kind === "file" ? `${part.name} ` : "";
      const where = part.url ?? part.blob?.hash ?? `${part.bytes?.length ?? 0} bytes`;
      return { label: `${part.kind} ${name}(${part.mediaType})`, text: where, verbatim: true };
    }
    case "structured":
      return { label: "value", text: jsonText(part.value), verbatim: true };
    case "custom":
      return { label: part.name, text: jsonText(part.value), verbatim: true };
    case "opaque":
      return { label: "unknown", text: jsonText(part.original), verbatim: true };
    default:
      return part satisfies never;
  }
}

function jsonText(value: Json): string {
  return JSON.stringify(value, undefined, 2);
}

function markdownPart(part: Part): string {
  const { label, text, verbatim } = shown(part);
  const title = label === undefined ? "" : `\n*${escapeMarkdown(oneLine(label))}*\n`;
  if (!verbatim) return `${title}\n${quoted(escapeMarkdown(text))}\n`;
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${title}\n${fence}\n${text}\n${fence}\n`;
}

function quoted(text: string): string {
  return text
    .split(/\r\n|[\r\n]/)
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Without tags and without images, which a reader would load: their address may carry what a model has read. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll("![", String.raw`!\[`);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function htmlPart(part: Part): string {
  const { label, text, verbatim } = shown(part);
  const title = label === undefined ? "" : `<p><em>${escapeHtml(label)}</em></p>\n`;
  const tag = verbatim ? "pre" : "blockquote";
  const style = verbatim ? "" : ' style="white-space: pre-wrap"';
  return `${title}<${tag}${style}>${escapeHtml(text)}</${tag}>\n`;
}

function escapeHtml(text: string): string {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" } as const;
  return text.replaceAll(/[&<>"']/g, (char) => entities[char as keyof typeof entities]);
}
