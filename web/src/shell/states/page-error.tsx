import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { LoadError } from '../../lib/loadable.tsx';
import { useRetry } from '../../ui/boundary.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { LoadFailure } from '../../ui/load-failure.tsx';

/** Replaces a page that fails to render; the shell stays. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = useRetry({
    error,
    reset: () => {
      reset();
      void router.invalidate();
    },
  });
  if (error instanceof LoadError) return <LoadFailure error={error} onRetry={retry} wholePage />;
  return <ErrorState title="Something went wrong" error={error} onRetry={retry} wholePage />;
}
