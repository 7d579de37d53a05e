const detail: Reader[] = [
  (body) => read(body, 'detail'),
  (body) => read(read(body, 'detail'), 'msg'),
  (body) => firstMsg(read(body, 'detail')),
];

/** Locations of the message in a response, in order of preference. */
const everywhere: Reader[] = [
  (body) => read(read(body, 'error'), 'message'),
  (body) => read(body, 'error'),
  (body) => read(read(read(body, 'detail'), 'error'), 'message'),
  ...detail,
  (body) => read(body, 'message'),
  (body) => read(body, 'msg'),
  (body) => body,
];

/** Readers that some operations try first. */
const first: Record<string, Reader[]> = {
  'create model': [(body) => read(body, 'msg'), ...detail],
  'deploy model': detail,
  'fetch deployments': detail,
  'terminate deployment': detail,
  'validate parameters': detail,
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

type Details = {
  status: number;
  code?: string;
  param?: string | null;
  requestId?: string | null;
  requiredAmount?: string;
  availableAmount?: string;
};

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

type Reader = (body: unknown) => unknown;

/**
 * Returns the message to show for a failed call. `body` is the parsed response (or its plain text), `error`
 * the thrown value. Order: error.message, error, detail.error.message, detail, message, msg, the error's own
 * message, else 'Failed to {operation}'. If `detail` is a list or object, uses its (first) `msg`. A few
 * operations try other fields first.
 */
export function errorText(body: unknown, error: unknown, operation: string): string {
  const inBody = [...(first[operation] ?? []), ...everywhere].map((reader) => reader(body));
  const candidates = [...inBody, error instanceof Error ? error.message : error];
  return candidates.map(asText).find((text) => text !== null) ?? `Failed to ${operation}`;
}

function firstMsg(list: unknown): unknown {
  return Array.isArray(list) ? read(list[0], 'msg') : undefined;
}

function read(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/**
 * Returns true if the server rejected an action because it now costs more than shown. Nothing was started or
 * held.
 */
export function isPriceChange(error: unknown): boolean {
  return error instanceof ApiError && /(^|\.)cost_max$/.test(error.param ?? '');
}
