import * as z from 'zod';
import type { Clock } from '../../../platform/clock.ts';
import { AppError, invalidRequest } from '../../../platform/errors.ts';
import { slowLineMs } from '../../../platform/http/connection.ts';

/** Timeout of a call. The time to upload the body over a slow line is added. */
const CALL_MS = 30_000;
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const SAID_LENGTH_MAX = 300;
/** A longer Retry-After is shortened to this. */
const RETRY_AFTER_MAX_MS = 10 * 60_000;
const RETRY_AFTER_MS = 20_000;
/** Statuses of temporary conflicts and of timeouts within the service. */
const transientStatuses = new Set([408, 409, 425, 499]);

export type Call = {
  /** The service's name, for user-facing messages. */
  title: string;
  url: string;
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  headers: Record<string, string>;
  clock: Clock;
  /** Sent as JSON or as a form. */
  body?: object | FormData;
  signal?: AbortSignal;
  /** Overrides the timeout. */
  ms?: number;
};

/** Codes of errors before any byte of the request was sent. */
const unsentCodes = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Statuses of a proxy that forwarded the call and received no valid answer. */
const unansweredStatuses = new Set([502, 504, 520, 522, 524]);

/** The call has no answer, but it may have reached the service and started a job. */
export class UnansweredCall extends AppError {}

/** An error that the service itself reports, unlike an error of a proxy. */
export class ServiceReportedError extends AppError {}

/**
 * Calls a service and returns its JSON answer. Throws AppError 'invalid_request' if the service refuses the
 * input, 'internal' for errors that only the operator can fix, 'gone' for an unknown job, and otherwise
 * 'unavailable' (as an UnansweredCall if the call may have started a job). Also throws the signal's reason,
 * and SyntaxError for invalid JSON.
 */
export async function callService(call: Call): Promise<unknown> {
  const { title, url, method = 'GET', headers, body, signal } = call;
  const payload = body && (body instanceof FormData ? body : JSON.stringify(body));
  const { ms = callMs(payload) } = call;
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload && { body: payload }),
      // Never send the key to another host.
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(ms), ...(signal ? [signal] : [])]),
    });
    text = await readText(answer);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const NoAnswer = isUnsent(error) ? AppError : UnansweredCall;
    throw new NoAnswer('unavailable', { publicMessage: `${title} does not answer`, cause: error });
  }
  if (!answer.ok) throw toError(call, answer, text);
  return JSON.parse(text);
}

/** Returns the timeout for a payload: uploading a 20 MB picture takes minutes on a slow line. */
export function callMs(payload: string | FormData | undefined): number {
  const parts = payload instanceof FormData ? [...payload.values()] : [payload ?? ''];
  const bytes = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part.size), 0);
  return CALL_MS + slowLineMs(bytes);
}

function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return unsentCodes.has(cause?.code ?? '');
}

/** Returns the error for a prompt that the service's moderation refused. */
export function moderated(title: string, cause?: unknown): AppError {
  return invalidRequest(`${title} rejected the prompt or the result under its content policy`, { cause });
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) throw new Error(`the answer exceeds ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function toError({ title, url, clock }: Call, answer: Response, text: string): AppError {
  const { status } = answer;
  const problem = readProblem(text);
  const cause = new Error(`${status} from ${new URL(url).host}: ${text.slice(0, 1_000)}`);
  const error = (code: AppError['code'], publicMessage: string, waitMs?: number) =>
    new AppError(code, { publicMessage, cause, ...(waitMs !== undefined && { retryAfterMs: waitMs }) });
  if (problem.isModeration) return moderated(title, cause);
  if (status === 402 || (status === 403 && /balance|credit|billing/i.test(problem.message)))
    return error(
      'internal',
      `This server's account at ${title} has no credit left. Please tell its operator`,
    );
  if (status === 401 || status === 403)
    return error('internal', `${title} does not accept this server's key. Please tell its operator`);
  if (status === 404 || status === 410) return error('gone', `${title} no longer has this job`);
  if (status === 429)
    return error(
      'unavailable',
      `${title} is busy`,
      retryAfterMs(answer.headers.get('retry-after'), clock.now()),
    );
  const saysRetry = answer.headers.get('x-fal-retryable') === 'true';
  const isTransient = status >= 500 || transientStatuses.has(status) || saysRetry || problem.isTransient;
  if (!isTransient)
    return error('invalid_request', `${title} refused this${problem.message ? `: ${problem.message}` : ''}`);
  if (unansweredStatuses.has(status))
    return new UnansweredCall('unavailable', { publicMessage: `${title} is having problems`, cause });
  const Fault = problem.message === '' && !saysRetry ? AppError : ServiceReportedError;
  return new Fault('unavailable', { publicMessage: `${title} is having problems`, cause });
}

/** Parses Retry-After: seconds or a date. */
function retryAfterMs(header: string | null, now: Date): number {
  const seconds = Number(header ?? Number.NaN);
  const ms = Number.isNaN(seconds) ? Date.parse(header ?? '') - now.getTime() : seconds * 1_000;
  return Number.isNaN(ms) ? RETRY_AFTER_MS : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS);
}

const entry = z.looseObject({ msg: z.string().optional(), type: z.string().optional() });
const problemBody = z.looseObject({
  detail: z.union([z.string(), z.array(entry)]).optional(),
  error: z.union([z.string(), z.looseObject({ code: z.unknown(), message: z.string() })]).optional(),
  message: z.string().optional(),
});

/** Extracts the error from a body; the services use three formats. */
function readProblem(text: string): { message: string; isModeration: boolean; isTransient: boolean } {
  const parsed = problemBody.safeParse(asJson(text));
  const { detail, error, message } = parsed.data ?? {};
  const entries = typeof detail === 'object' ? detail : [];
  const messages = [
    ...entries.map(({ msg }) => msg),
    typeof detail === 'string' ? detail : undefined,
    typeof error === 'string' ? error : error?.message,
    message,
  ];
  const code = typeof error === 'object' ? String(error.code) : '';
  return {
    message: oneLine(messages.find((one) => one !== undefined && one !== '') ?? ''),
    isModeration:
      entries.some(({ type }) => type === 'content_policy_violation') ||
      /SensitiveContent|PolicyViolation/.test(code),
    isTransient: entries.some(({ type = '' }) => /^downstream_service_(error|unavailable)$/.test(type)),
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, SAID_LENGTH_MAX);
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
