/**
 * Stands in the build for `rehype-raw`, which reads HTML in Markdown. This page never does, and so the parser,
 * a fifth of its program, is not even there.
 */
// oxlint-disable-next-line import/no-default-export -- it is imported as the module that it stands for
export default function noRawHtml(): void {
  throw new Error("HTML in Markdown is shown as text");
}
