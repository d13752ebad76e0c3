/** A request that breaks a rule. The vendor turns it into the body of its error. */
export class VendorRefusal extends Error {
  override readonly name = "VendorRefusal";
  readonly status: number;
  /** The vendor's code beside the message, if it has one. */
  readonly code: string | undefined;

  constructor(message: string, { status = 400, code }: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface RefusalDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

/** Ends the request with the vendor's message. */
export function refuse(message: string, details?: RefusalDetails): never {
  throw new VendorRefusal(message, details);
}
