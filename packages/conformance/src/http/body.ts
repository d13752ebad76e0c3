/**
 * The fields of our answers and messages, all optional: a case asserts what it relies on, and the check
 * against the OpenAPI document covers the whole shapes.
 */
export interface HttpBody {
  readonly id?: string;
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly owner?: string;
  readonly parent?: { readonly sessionId: string; readonly callId: string };
  readonly status?: string | number;
  readonly head?: number;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly inputId?: string;
  readonly runId?: string;
  readonly n?: number;
  readonly outcome?: string;
  readonly cause?: { readonly code?: string; readonly message?: string };
  readonly text?: string;
  readonly usage?: object;
  readonly items?: readonly HttpBody[];
  readonly item?: HttpBody;
  readonly author?: string;
  readonly parts?: readonly HttpBody[];
  readonly kind?: string;
  readonly blob?: { readonly hash: string; readonly size: number };
  readonly sessions?: readonly HttpBody[];
  readonly approvals?: readonly HttpBody[];
  readonly next?: string;
  readonly approvalId?: string;
  readonly sessionId?: string;
  readonly callId?: string;
  readonly itemId?: string;
  readonly childSessionId?: string;
  readonly tool?: string;
  readonly input?: { readonly kind?: string } & Readonly<Record<string, unknown>>;
  readonly hash?: string;
  readonly decision?: string;
  readonly actor?: { readonly user?: string; readonly via?: string };
  readonly size?: number;
  readonly mediaType?: string;
  readonly messages?: readonly { readonly id?: string; readonly message: HttpBody }[];
  readonly cursor?: string;
  readonly ended?: string;
  readonly snapshot?: HttpBody;
  readonly ticket?: string;
  readonly expiresAt?: number;
  readonly type?: string;
  readonly reason?: string;
  readonly uid?: string;
  readonly code?: string;
  readonly detail?: string;
  readonly retryable?: boolean;
  readonly instance?: string;
  readonly pointer?: string;
  readonly policy?: string;
  readonly limit?: number | string;
  readonly earlier?: { readonly count: number; readonly before: number };
  readonly v?: number;
}
