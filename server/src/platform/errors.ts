import { type ErrorCode, type ExceededBudget, errorStatus } from '@bakehouse/contract/errors';

type Options = {
  /** The sentence that the caller reads. */
  publicMessage: string;
  /** The field that the error is about, as a dotted path. */
  param?: string;
  /** More for the wire, e.g. amounts in BGL. */
  data?: { required_amount?: string; available_amount?: string; budget?: ExceededBudget };
  /** When it may be tried again, where that is known. */
  retryAfterMs?: number;
  /** Whether the same call may meet something else. Unless said it may, but for a conflict; OpenAI's clients would repeat that too. */
  shouldRetry?: boolean;
  cause?: unknown;
};

/** An error with a place on the wire. Everything else that is thrown becomes `internal`, without its text. */
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

/** What is said of a parameter, a dotted path, that is not taken as it was sent. */
export function refused(param: string, publicMessage: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage, param, cause });
}
