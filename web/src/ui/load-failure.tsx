import { useEffect, useState } from 'react';
import { useOnline } from '../lib/live/online.ts';
import type { LoadError } from '../lib/loadable.tsx';
import { isOutdated } from '../lib/served-build.ts';
import { ErrorState } from './error-state.tsx';

type Props = {
  error: LoadError;
  onRetry: () => void;
  wholePage?: boolean;
  /** The part that failed to load. */
  part?: keyof typeof opens;
};

const opens = {
  page: 'The page opens',
  form: 'The form opens',
  'part of the page': 'This part appears',
};

/**
 * Error for code that failed to load: the server is unreachable, has a newer build, or the cause is unknown.
 */
export function LoadFailure({ error, onRetry, wholePage = false, part = 'page' }: Props) {
  const online = useOnline();
  const outdated = useOutdated(online);
  const frame = { wholePage, compact: part === 'part of the page' };
  if (!online) {
    return (
      <ErrorState
        title={`This ${part} hasn’t loaded yet`}
        error={`The server cannot be reached. ${opens[part]} automatically when it is back.`}
        onRetry={onRetry}
        {...frame}
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
        {...frame}
      />
    );
  }
  // Some browsers cache a failed script until the page reloads.
  const stuck = error.failures > 1;
  return (
    <ErrorState
      title={`This ${part} could not be loaded`}
      error={error}
      retryLabel={stuck ? 'Reload' : 'Try again'}
      onRetry={stuck ? () => location.reload() : onRetry}
      {...frame}
    />
  );
}

/** Returns true if the server has a different build. Checks again on every reconnect. */
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
