import { ERROR_REPORT_MAX, reportError as endpoint } from '@bakehouse/contract/error-reports';
import type { QueryClient } from '@tanstack/react-query';
import { isOnline } from '../live/online.ts';
import { LoadError } from '../loadable.tsx';
import { ApiError } from './api-error.ts';

type Kind = 'dataset' | 'unhandled';

/** Reports of one page at most: what is broken is broken again and again. */
const REPORTS_MAX = 10;

const reported = new Set<string>();
let isWanted = true;

/**
 * Reports an error that nobody who uses the app can mend, once. The server sends it on where there is a service for
 * it, and scrubs it before. Never throws, and nothing waits for it.
 */
export function reportError(error: unknown, kind: Kind): void {
  if (!isWanted || reported.size >= REPORTS_MAX || isExpected(error)) return;
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(`Thrown ${typeof error}`);
  const known = `${name}: ${message}`;
  if (reported.has(known)) return;
  reported.add(known);
  const { name: nameMax, message: messageMax, stack: stackMax, path: pathMax } = ERROR_REPORT_MAX;
  const body = {
    kind,
    name: name.slice(0, nameMax),
    message: message.slice(0, messageMax),
    stack: stack.slice(0, stackMax),
    path: location.pathname.slice(0, pathMax),
  };
  void send(body);
}

/** Not by `call`: that a report was refused says nothing of anybody's key. */
async function send(body: object): Promise<void> {
  try {
    const answer = await fetch(endpoint.path, {
      method: endpoint.method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      keepalive: true,
    });
    if (answer.ok) isWanted = ((await answer.json()) as { taken: boolean }).taken;
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
