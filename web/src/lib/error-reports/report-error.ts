import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/api-error.ts';
import { isOnline } from '../live/online.ts';
import { LoadError } from '../loadable.tsx';
import type { ErrorReport } from './send-error-report.ts';

/** Reports of one page at most: what is broken is broken again and again. */
const REPORTS_MAX = 10;

const reported = new Set<string>();
let isWanted = true;

/**
 * Reports an error that nobody who uses the app can mend, once. The server sends it on where there is a service for
 * it, and scrubs it before. Never throws, and nothing waits for it.
 */
export function reportError(error: unknown, kind: ErrorReport['kind']): void {
  if (!isWanted || reported.size >= REPORTS_MAX || isExpected(error)) return;
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(`Thrown ${typeof error}`);
  const known = `${name}: ${message}`;
  if (reported.has(known)) return;
  reported.add(known);
  void send({ kind, name, message, stack });
}

/** Its code is fetched with the first report. */
async function send(report: ErrorReport): Promise<void> {
  try {
    isWanted = await (await import('./send-error-report.ts')).sendErrorReport(report);
  } catch {
    // The server is away: there is nobody to tell.
  }
}

/** What the app tells its user itself: the server is away, or the call was wrong. */
function isExpected(error: unknown): boolean {
  if (!isOnline() || error instanceof LoadError) return true;
  if (error instanceof DOMException && error.name === 'AbortError') return true;
  return error instanceof ApiError && error.status < 500;
}

/**
 * Reports a failed call by what it is about, the first word of its key: of datasets and models whatever the server
 * could not do, of the rest only what is no answer at all.
 */
export function reportFailure(error: unknown, key: readonly unknown[] | undefined): void {
  const isDataset = key?.[0] === 'asset';
  if (isDataset || !(error instanceof ApiError)) reportError(error, isDataset ? 'dataset' : 'unhandled');
}

/** Reports what nobody catches, and failed reads. Called once, at start. */
export function reportErrors(client: QueryClient): void {
  client.getQueryCache().config.onError = (error, { queryKey }) => reportFailure(error, queryKey);
  addEventListener('error', ({ error }) => error && reportError(error, 'unhandled'));
  addEventListener('unhandledrejection', ({ reason }) => reportError(reason, 'unhandled'));
}
