/**
 * Splits bytes into lines at LF only: a line of JSON may contain U+2028 and other characters at
 * which some line readers split as well. Linear, however the bytes are split.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let held: string[] = [];
  for await (const chunk of chunks) {
    const [rest = "", ...begun] = decoder.decode(chunk, { stream: true }).split("\n");
    held.push(rest);
    for (const next of begun) {
      yield held.join("");
      held = [next];
    }
  }
  const last = held.join("") + decoder.decode();
  if (last !== "") yield last;
}
