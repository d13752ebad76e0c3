/**
 * An event of an independent parser, which shares no code with our framing and protocols. Slow,
 * short and lenient.
 */
export interface PlainEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Its data is `[DONE]`. */
  readonly isDone: boolean;
  /** The offset where its last line of data ends, without the line end. */
  readonly end: number;
  /** The offset where the blank line after it ends. */
  readonly closed: number;
}

export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** One character per byte until the lines are found, so that offsets count bytes. */
export function plainEvents(bytes: Uint8Array): readonly PlainEvent[] {
  const text = Buffer.from(bytes).toString("latin1");
  const events: PlainEvent[] = [];
  let data: string[] = [];
  let name = "";
  let end = 0;
  const close = (closed: number): void => {
    const row = Buffer.from(data.join("\n"), "latin1").toString("utf8");
    const isDone = row.trim() === "[DONE]";
    const value = isDone ? {} : parsed(row);
    if (value !== undefined) events.push({ name, data: value, isDone, end, closed });
    data = [];
    name = "";
  };
  for (const { 0: line, index } of text.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)) {
    const row = line.replace(/[\r\n]+$/, "");
    if (row === "") close(line === "" ? Infinity : index + line.length);
    const field = /^(?:\u00EF\u00BB\u00BF)?data: ?(.*)$/s.exec(row);
    if (field === null) {
      name = /^event: ?(.*)$/s.exec(row)?.[1] ?? name;
      continue;
    }
    data.push(field[1] ?? "");
    end = index + row.length;
  }
  close(Infinity);
  return events;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? fields(value) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The messages of Amazon's event stream, by their lengths alone: neither checksum is verified. An event in
 * base64 is decoded. Ends at the first message that an exception or an error is.
 */
export function plainMessages(bytes: Uint8Array): readonly PlainEvent[] {
  const view = Buffer.from(bytes);
  const events: PlainEvent[] = [];
  for (let at = 0; at + 16 <= view.length;) {
    const [total, headers] = [view.readUInt32BE(at), view.readUInt32BE(at + 4)];
    const end = at + total;
    if (total < 16 || end > view.length) break;
    const head = view.toString("latin1", at + 12, at + 12 + headers);
    const value = head.indexOf(":event-type\u0007") + 12;
    if (value < 12) break;
    const length = head.charCodeAt(value) * 256 + head.charCodeAt(value + 1);
    const name = head.slice(value + 2, value + 2 + length);
    const payload = parsed(view.toString("utf8", at + 12 + headers, end - 4)) ?? {};
    const inner = payload["bytes"];
    const data =
      typeof inner === "string"
        ? (parsed(Buffer.from(inner, "base64").toString("utf8")) ?? {})
        : payload;
    events.push({ name, data, isDone: false, end, closed: end });
    at = end;
  }
  return events;
}
