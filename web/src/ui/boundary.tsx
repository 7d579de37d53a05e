import { CatchBoundary, useRouter } from '@tanstack/react-router';
import { type FunctionComponent, type ReactNode, useEffect, useEffectEvent } from 'react';
import { reportError } from '../lib/error-reports/report-error.ts';
import { isOnline, onReconnect } from '../lib/live/online.ts';
import { LoadError } from '../lib/loadable.tsx';

/** What broke, and how it is rendered again. */
export type Broken = { error: unknown; reset: () => void };

type Props = {
  /** Stands in place of what broke. */
  fallback: FunctionComponent<Broken>;
  children: ReactNode;
};

/** Keeps what breaks inside of it from taking the rest of the app along. */
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

/** For what can be done without for a while: shows nothing, and comes as soon as it can be fetched. */
export function EmptyFallback(broken: Broken) {
  useRetry(broken);
  return null;
}

/**
 * How to try again what broke: what could not be fetched is fetched first. That also happens by itself when the server is
 * back; and, since the server may have been there all the time, when somebody goes to another page or comes back to this
 * window.
 */
export function useRetry({ error, reset }: Broken): () => void {
  // Without a router, nothing navigates.
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
