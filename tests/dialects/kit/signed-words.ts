/** A long text each word of which names the attempt that wrote it. */
export function signedWords(attempt: string): string {
  return Array.from({ length: 60 }, (_, at) => `word${at}#${attempt} `).join("");
}

/** The attempts that wrote a text. */
export function attemptsIn(text: string): readonly string[] {
  return [...new Set(text.matchAll(/#(\w+)/g).map(([, attempt = ""]) => attempt))];
}
