import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/api-error.ts';
import { isLoadError } from '../is-load-error.ts';
import { isOnline } from '../live/online.ts';
import type { ErrorReport } from './send-error-report.ts';

/** Maximum reports per page load: the same failure tends to repeat. */
const REPORTS_MAX = 10;

const reported = new Set<string>();
let isWanted = true;

/**
 * Reports an unexpected error, once per page load. The server scrubs it and forwards it if an error service
 * is configured. Never throws; don't await it.
 */
export function reportError(error: unknown, kind: ErrorReport['kind']): void {
  if (!isWanted || reported.size >= REPORTS_MAX || isExpected(error)) return;
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(`Thrown ${typeof error}`);
  const known = `${name}: ${message}`;
  if (reported.has(known)) return;
  reported.add(known);
  void send({ kind, name, message, stack });
}

/** Loads the code with the first report. */
async function send(report: ErrorReport): Promise<void> {
  try {
    isWanted = await (await import('./send-error-report.ts')).sendErrorReport(report);
  } catch {
    // The server is unreachable.
  }
}

/** Returns true for errors that the app shows to the user: unreachable server or invalid call. */
function isExpected(error: unknown): boolean {
  if (!isOnline() || isLoadError(error)) return true;
  if (error instanceof DOMException && error.name === 'AbortError') return true;
  return error instanceof ApiError && error.status < 500;
}

/**
 * Reports a failed call, by the first part of its key: for datasets and models every server error, for others
 * only non-API errors.
 */
export function reportFailure(error: unknown, key: readonly unknown[] | undefined): void {
  const isDataset = key?.[0] === 'asset';
  if (isDataset || !(error instanceof ApiError)) reportError(error, isDataset ? 'dataset' : 'unhandled');
}

/** Reports unhandled errors and failed reads. Called once at startup. */
export function reportErrors(client: QueryClient): void {
  client.getQueryCache().config.onError = (error, { queryKey }) => reportFailure(error, queryKey);
  addEventListener('error', ({ error }) => error && reportError(error, 'unhandled'));
  addEventListener('unhandledrejection', ({ reason }) => reportError(reason, 'unhandled'));
}
