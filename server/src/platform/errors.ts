import { type ErrorBody, type ErrorCode, errorStatus } from '@bakehouse/contract/errors';

/** A message with `{name}` for each amount, and the amounts in BGL by name. */
type Amounts = Pick<ErrorBody['error'], 'template' | 'amounts'>;

type Options = {
  /** The sentence shown to the caller. */
  publicMessage: string;
  /** The invalid field, as a dotted path. */
  param?: string;
  /** More fields for the response, e.g. amounts in BGL. */
  data?: Partial<Pick<ErrorBody['error'], 'required_amount' | 'available_amount' | 'budget'>> & Amounts;
  /** When the caller may retry, if known. */
  retryAfterMs?: number;
  /** Whether a retry may succeed. Defaults to true, except for conflicts: OpenAI clients retry those. */
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

type Details = Omit<Options, 'publicMessage'>;

const factory =
  (code: ErrorCode) =>
  (publicMessage: string, details?: Details): AppError =>
    new AppError(code, { ...details, publicMessage });

// A code that only one module uses has no factory here: the module creates the AppError.
export const invalidRequest = factory('invalid_request');
export const unauthenticated = factory('unauthenticated');
export const forbidden = factory('forbidden');
/** Creates a `not_found` error with its own sentence. See also `notFound` and `unknownId`. */
export const notFoundError = factory('not_found');
export const conflict = factory('conflict');
export const gone = factory('gone');
export const preconditionFailed = factory('precondition_failed');
export const payloadTooLarge = factory('payload_too_large');
export const unsupportedMediaType = factory('unsupported_media_type');
/** The caller has reached a limit. The message says how to stay below it. */
export const tooMany = factory('rate_limited');
export const internalError = factory('internal');
export const unavailable = factory('unavailable');
export const timedOut = factory('timed_out');

/**
 * Returns a message with amounts in BGL, and the data from which the web app shows it in the user's currency.
 * `template` has `{name}` for each amount.
 */
export function messageWithAmounts(
  template: string,
  amounts: Record<string, string>,
): { publicMessage: string; data: Amounts } {
  const publicMessage = template.replace(/\{(\w+)\}/g, (_, name: string) => `${amounts[name]} BGL`);
  return { publicMessage, data: { template, amounts } };
}

/** `param` is the dotted path of the invalid field. The message says how to correct it. */
export function invalidParam(param: string, publicMessage: string, cause?: unknown): AppError {
  return invalidRequest(publicMessage, { param, cause });
}

export function unknownCursor(cause?: unknown): AppError {
  return invalidParam('cursor', 'cursor must be the next_cursor of an earlier page of this list', cause);
}

/** 'Asset not found', also if the caller may not read it. */
export function notFound(noun: string, param?: string): AppError {
  return notFoundError(`${noun} not found`, { param });
}

/** 'No generation has this id', also if the caller may not read it. */
export function unknownId(noun: string, param?: string): AppError {
  return notFoundError(`No ${noun} has this id`, { param });
}

export function modelNotFound(publicMessage: string): AppError {
  return new AppError('model_not_found', { publicMessage, param: 'model' });
}

export const signInRequired = () => unauthenticated('Sign in first');
export const invalidApiKey = () => unauthenticated('This API key is not valid');

export function ownedByAnother(param: string): AppError {
  return forbidden('This belongs to another user', { param });
}

export function invalidLink(): AppError {
  const message = 'This link was not made by this server, or has been changed. Ask for a new one.';
  return forbidden(message, { param: 'signature' });
}

export const linkExpired = () => gone('This link has expired. Ask for a new one.', { param: 'expires' });
export const workloadEnded = () => gone('This workload has ended');

/** `reason` is a sentence, such as 'bert does not answer'. The message adds 'Try again'. */
export function modelUnavailable(reason: string, cause?: unknown, retryAfterMs?: number): AppError {
  return unavailable(`${reason.replace(/\.$/, '')}. Try again`, { cause, retryAfterMs });
}

export function databaseUnavailable(cause: unknown): AppError {
  return unavailable('The database does not answer. Try again in a moment', { cause });
}

export function pythonNotReady(): AppError {
  return unavailable('The Python environment is still being prepared. Please try again in a few minutes.');
}

export function fileReadersBusy(): AppError {
  return unavailable('Several of your files are being read already. Try again when they are done.');
}

export const clientDisconnected = () => unavailable('The client disconnected');
