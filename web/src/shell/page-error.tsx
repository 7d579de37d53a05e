import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorState } from '../ui/error-state.tsx';

/** What a page shows instead of itself when it breaks; the shell around it stays. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  // A new release has other file names: only a fresh page can load them.
  const outdated = /dynamically imported module|module script failed/i.test(String(error));
  return (
    <ErrorState
      title={outdated ? 'Bakehouse was updated' : 'Something went wrong'}
      error={outdated ? new Error('Reload to get the new version.') : error}
      retryLabel={outdated ? 'Reload' : 'Try again'}
      onRetry={() => {
        if (outdated) return location.reload();
        reset();
        void router.invalidate();
      }}
      className="min-h-[60dvh] justify-center"
    />
  );
}
