import { type ErrorCode, type ExceededBudget, errorStatus } from '@bakehouse/contract/errors';

type Options = {
  /** The sentence shown to the caller. */
  publicMessage: string;
  /** The invalid field, as a dotted path. */
  param?: string;
  /** More fields for the response, e.g. amounts in BGL. */
  data?: { required_amount?: string; available_amount?: string; budget?: ExceededBudget };
  /** When to retry, if known. */
  retryAfterMs?: number;
  /** Whether a retry may succeed. Defaults to true except for conflicts (OpenAI clients retry those). */
  shouldRetry?: boolean;
  cause?: unknown;
};

/** An error with a public code. Any other thrown value becomes `internal`, without its text. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly param: string | null;
  readonly retryAfterMs: number | null;
  readonly shouldRetry: boolean;
  readonly data: NonNullable<Options['data']>;

  constructor(code: ErrorCode, options: Options) {
    super(options.publicMessage, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.publicMessage = options.publicMessage;
    this.param = options.param ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.shouldRetry = options.shouldRetry ?? this.status !== 409;
    this.data = options.data ?? {};
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

/** Returns the error for an invalid parameter, named by its dotted path. */
export function refused(param: string, publicMessage: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage, param, cause });
}
