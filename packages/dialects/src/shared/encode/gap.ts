/** What a dialect can't say as we do, and what its readers get instead. Printed in `docs/dialects.md`. */
export interface Gap {
  readonly about: string;
  /** The versions or formats that it is true of. */
  readonly versions: string;
  readonly instead: string;
}
