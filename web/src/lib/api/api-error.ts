import type { ErrorBody } from '@bakehouse/contract/errors';
import { errorText } from './error-text.ts';

/** Fields of the error body with amounts in BGL. */
type ErrorData = Pick<ErrorBody['error'], 'template' | 'amounts' | 'budget'>;

type Details = {
  status: number;
  code?: string;
  param?: string | null;
  requestId?: string | null;
  requiredAmount?: string;
  availableAmount?: string;
  data?: ErrorData;
};

/** A call that failed or (status 0) got no response. `message` can be shown to users. */
export class ApiError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly code: string;
  /** The invalid field, as a dotted path. */
  readonly param: string | null;
  readonly requestId: string | null;
  /** BGL, on `insufficient_funds`. */
  readonly requiredAmount: string | null;
  readonly availableAmount: string | null;
  readonly data: ErrorData;

  constructor(message: string, details: Details) {
    super(message);
    this.name = 'ApiError';
    this.status = details.status;
    this.code = details.code ?? 'unknown';
    this.param = details.param ?? null;
    this.requestId = details.requestId ?? null;
    this.requiredAmount = details.requiredAmount ?? null;
    this.availableAmount = details.availableAmount ?? null;
    this.data = details.data ?? {};
  }
}

/** Parses an error response. `body` is its text, which may be JSON. */
export function toApiError(
  status: number,
  body: string,
  requestId: string | null,
  operation: string,
): ApiError {
  const parsed = parseJson(body);
  const error = isRecord(parsed) && isRecord(parsed.error) ? parsed.error : {};
  // Don't show a proxy's HTML page to users.
  const readable = typeof parsed === 'string' && parsed.trimStart().startsWith('<') ? null : parsed;
  return new ApiError(errorText(readable, undefined, operation), {
    status,
    code: textOf(error.code),
    param: textOf(error.param),
    requestId: textOf(error.request_id) ?? requestId,
    requiredAmount: textOf(error.required_amount),
    availableAmount: textOf(error.available_amount),
    data: error,
  });
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
