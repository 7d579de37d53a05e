import type { CaughtError } from '../../ui/boundary.tsx';
import { ErrorState } from '../../ui/error-state.tsx';

/** Replaces the whole app if even the shell fails to render. */
export function AppError({ error, reset }: CaughtError) {
  return (
    <ErrorState title="Something went wrong" error={error} onRetry={reset} wholePage className="min-h-dvh" />
  );
}
