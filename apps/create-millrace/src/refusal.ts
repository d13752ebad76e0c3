/** Ends the creator with a message for its user, and nothing written. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
