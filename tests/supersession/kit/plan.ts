/** The arguments of one writing process. */
export interface Plan {
  readonly postgres: string;
  readonly redis: string;
  readonly prefix: string;
  /** The word that its model writes. */
  readonly name: string;
  /** It waits at the first of these until the line `go`, and ends at the second. */
  readonly pauseAt?: string | undefined;
  readonly endAt?: string | undefined;
  readonly how?: "SIGKILL" | "SIGSTOP" | undefined;
}

const pieceCount = 9;

/** The pieces of a reply. They begin with the name, so that no two texts have a beginning in common. */
export function piecesOf(name: string): readonly string[] {
  return Array.from({ length: pieceCount }, (_, at) => `${name} says ${at + 1}. `);
}

export function textOfReply(name: string): string {
  return piecesOf(name).join("");
}
