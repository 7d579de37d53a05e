import { CatchBoundary, useRouter } from '@tanstack/react-router';
import { type FunctionComponent, type ReactNode, useEffect, useEffectEvent } from 'react';
import { reportError } from '../lib/error-reports/report-error.ts';
import { isOnline, onReconnect } from '../lib/live/online.ts';
import { LoadError } from '../lib/loadable.tsx';

/** The caught error and a function that renders the children again. */
export type CaughtError = { error: unknown; reset: () => void };

type Props = {
  /** Renders in place of the children that threw. */
  fallback: FunctionComponent<CaughtError>;
  children: ReactNode;
};

/** Contains render errors so that the rest of the app keeps working. */
export function Boundary({ fallback, children }: Props) {
  return (
    <CatchBoundary
      getResetKey={() => 'never'}
      errorComponent={fallback}
      onCatch={(error) => reportError(error, 'unhandled')}
    >
      {children}
    </CatchBoundary>
  );
}

/** Fallback for non-essential parts: renders nothing and retries until the code loads. */
export function EmptyFallback(broken: CaughtError) {
  useRetry(broken);
  return null;
}

/**
 * Returns a function that retries: reloads code that failed to load, then renders again. Also retries
 * automatically on reconnect and, because the server may have been reachable all along, on navigation and
 * window focus.
 */
export function useRetry({ error, reset }: CaughtError): () => void {
  // Components outside a router still render; they have no navigation to observe.
  const router = useRouter({ warn: false }) as ReturnType<typeof useRouter> | null;
  const retry = () => {
    if (error instanceof LoadError) void error.retry().then(reset);
    else reset();
  };
  const retryNow = useEffectEvent(retry);
  useEffect(() => {
    if (!(error instanceof LoadError)) return;
    const retryWhereOnline = () => isOnline() && retryNow();
    const stops = [onReconnect(() => retryNow()), router?.subscribe('onResolved', retryWhereOnline)];
    addEventListener('focus', retryWhereOnline);
    return () => {
      removeEventListener('focus', retryWhereOnline);
      for (const stop of stops) stop?.();
    };
  }, [error, router]);
  return retry;
}
