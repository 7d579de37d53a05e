import { CatchBoundary } from '@tanstack/react-router';
import { type FunctionComponent, type ReactNode, Suspense, useEffect } from 'react';
import { reportError } from '../lib/error-reports/report-error.ts';
import { isLoadError } from '../lib/is-load-error.ts';
import { ErrorState } from './error-state.tsx';
import { notify } from './notify.ts';

/** The caught error and a function that renders the children again. */
export type CaughtError = { error: unknown; reset: () => void };

type Props = {
  /** Renders in place of the children that threw. */
  fallback?: FunctionComponent<CaughtError>;
  children: ReactNode;
};

/** Contains render errors so that the rest of the app keeps working. */
export function Boundary({ fallback = BrokenPart, children }: Props) {
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

/** A part of a page that `React.lazy` loads. If it fails, the page around it is unaffected. */
export function LazyPart({ pending, ...props }: Props & { pending?: ReactNode }) {
  return (
    <Boundary {...props}>
      <Suspense fallback={pending}>{props.children}</Suspense>
    </Boundary>
  );
}

/** Error message for a part of the page that failed to load or render. */
export function BrokenPart({ error, reset }: CaughtError) {
  // React remembers code that failed to load.
  return isLoadError(error) ? (
    <ErrorState
      title="This part of the page could not be loaded"
      error="Reload the page when the server can be reached."
      retryLabel="Reload"
      onRetry={() => location.reload()}
      compact
    />
  ) : (
    <ErrorState title="Something went wrong" error={error} onRetry={reset} compact />
  );
}

/** Fallback for parts without a place for an error message: a toast tells the user to reload. */
export function EmptyFallback({ error }: CaughtError) {
  useEffect(() => {
    if (!isLoadError(error)) return;
    const action = { label: 'Reload', onClick: () => location.reload() };
    notify.warning('A part of Bakehouse could not be loaded', { id: 'part-not-loaded', action });
  }, [error]);
  return null;
}
