import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useOnline } from '../../lib/live/online.ts';
import { LoadError } from '../../lib/loadable.tsx';
import { isOutdated } from '../../lib/served-build.ts';
import { useRetry } from '../../ui/boundary.tsx';
import { ErrorState } from '../../ui/error-state.tsx';

/** What a page shows instead of itself when it breaks; the shell around it stays. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = useRetry({
    error,
    reset: () => {
      reset();
      void router.invalidate();
    },
  });
  if (error instanceof LoadError) return <NotFetched error={error} onRetry={retry} wholePage />;
  return <ErrorState title="Something went wrong" error={error} onRetry={retry} wholePage />;
}

type Props = {
  error: LoadError;
  onRetry: () => void;
  wholePage?: boolean;
  /** What could not be fetched. */
  part?: 'page' | 'form';
};

/** A part of the app that could not be fetched: because the server is away, has another release, or for no known reason. */
export function NotFetched({ error, onRetry, wholePage, part = 'page' }: Props) {
  const online = useOnline();
  const outdated = useOutdated(online);
  if (!online) {
    return (
      <ErrorState
        title={`This ${part} hasn’t loaded yet`}
        error={`The server cannot be reached. The ${part} opens automatically when it is back.`}
        onRetry={onRetry}
        wholePage={wholePage}
      />
    );
  }
  if (outdated) {
    return (
      <ErrorState
        title="Bakehouse was updated"
        error="Reload to get the new version."
        retryLabel="Reload"
        onRetry={() => location.reload()}
        wholePage={wholePage}
      />
    );
  }
  // Some browsers remember a failed script until the page is loaded anew.
  const stuck = error.failures > 1;
  return (
    <ErrorState
      title={`This ${part} could not be loaded`}
      error={error}
      retryLabel={stuck ? 'Reload' : 'Try again'}
      onRetry={stuck ? () => location.reload() : onRetry}
      wholePage={wholePage}
    />
  );
}

/** Whether the server has another build; asked anew each time that it is back. */
function useOutdated(online: boolean): boolean {
  const [outdated, setOutdated] = useState(false);
  useEffect(() => {
    if (!online) return;
    let gone = false;
    void isOutdated().then((answer) => gone || setOutdated(answer === true));
    return () => {
      gone = true;
    };
  }, [online]);
  return outdated;
}
