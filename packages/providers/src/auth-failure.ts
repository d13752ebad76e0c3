import type { Cause } from "@millrace/core";

/** Thrown by an `Auth` that asks a server: the cause with which the request ends, or is tried again. */
export class AuthFailure extends Error {
  override readonly name = "AuthFailure";
  readonly failure: Cause;

  constructor(failure: Cause) {
    super(failure.message);
    this.failure = failure;
  }
}
