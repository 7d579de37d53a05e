import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { LoadError } from '../../lib/loadable.tsx';
import { useRetry } from '../../ui/boundary.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { NotFetched } from '../../ui/not-fetched.tsx';

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
