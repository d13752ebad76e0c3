/** Longer than any answer: laying it out as Markdown would hold the page up. */
const mostCharacters = 150_000;

/** Quotes and lists in each other, deeper than anybody writes, and brackets that open without end. */
const deep = /^(?:[ \t]*(?:>|[-*+] )){40}|\[{200}/m;

/** Whether a text is shown as it is: as Markdown it would cost more than it is worth. Linear. */
export function exceedsMarkdownLimit(text: string): boolean {
  return text.length > mostCharacters || deep.test(text);
}
