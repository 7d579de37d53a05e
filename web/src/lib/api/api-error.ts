import { errorText } from './error-text.ts';

type Details = {
  status: number;
  code?: string;
  param?: string | null;
  requestId?: string | null;
  requiredAmount?: string;
  availableAmount?: string;
};

/** A call that was answered with an error, or (status 0) not answered. `message` is fit to show. */
export class ApiError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: string;
  /** The field that the error is about, as a dotted path. */
  readonly param: string | null;
  readonly requestId: string | null;
  /** BGL, on `insufficient_funds`. */
  readonly requiredAmount: string | null;
  readonly availableAmount: string | null;

  constructor(message: string, details: Details) {
    super(message);
    this.name = 'ApiError';
    this.status = details.status;
    this.code = details.code ?? 'unknown';
    this.param = details.param ?? null;
    this.requestId = details.requestId ?? null;
    this.requiredAmount = details.requiredAmount ?? null;
    this.availableAmount = details.availableAmount ?? null;
  }
}

/** Reads an error answer. `body` is its text; JSON where it is JSON. */
export function toApiError(
  status: number,
  body: string,
  requestId: string | null,
  operation: string,
): ApiError {
  const parsed = parseJson(body);
  const error = isRecord(parsed) && isRecord(parsed.error) ? parsed.error : {};
  // A proxy's HTML page is no sentence for people.
  const readable = typeof parsed === 'string' && parsed.trimStart().startsWith('<') ? null : parsed;
  return new ApiError(errorText(readable, undefined, operation), {
    status,
    code: text(error.code),
    param: text(error.param),
    requestId: text(error.request_id) ?? requestId,
    requiredAmount: text(error.required_amount),
    availableAmount: text(error.available_amount),
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

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
