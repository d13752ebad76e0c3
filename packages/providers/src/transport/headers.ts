/**
 * The reason why a request with these headers can't be sent, or undefined. HTTP clients refuse such a
 * header by an error that looks like a broken connection. Values are secrets and not in the text.
 */
export function headerFault(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
      return `${JSON.stringify(name.slice(0, 80))} is no name of a header: use letters, digits and "-"`;
    }
    const at = value.search(/[^\t\u0020-\u007e\u0080-\u00ff]/u);
    if (at < 0) continue;
    const isBreak = /[\r\n]/.test(value.charAt(at));
    const found = isBreak ? "a line break" : "a character that no header can have";
    const fix = isBreak
      ? "trim it, because a key that is read from a file often ends with one"
      : "copy it again, as plain text";
    return `the header ${name} has ${found} at character ${at + 1} of ${value.length}: ${fix}`;
  }
  return undefined;
}
