import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { isLoadError } from '../../lib/is-load-error.ts';
import { onReconnect, useOnline } from '../../lib/live/online.ts';
import { ErrorState } from '../../ui/error-state.tsx';

/** Replaces a page that fails to load or render; the shell stays. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const online = useOnline();
  const isMissing = isLoadError(error);
  const retry = () => {
    reset();
    void router.invalidate();
  };
  const retryIfMissing = useEffectEvent(() => isMissing && retry());
  useEffect(() => onReconnect(() => retryIfMissing()), []);
  if (!isMissing) return <ErrorState title="Something went wrong" error={error} onRetry={retry} wholePage />;
  return online ? (
    <ErrorState
      title="This page could not be loaded"
      error="Bakehouse may have been updated."
      retryLabel="Reload"
      onRetry={() => location.reload()}
      wholePage
    />
  ) : (
    <ErrorState
      title="This page hasn’t loaded yet"
      error="The server cannot be reached. The page opens automatically when it is back."
      onRetry={retry}
      wholePage
    />
  );
}
