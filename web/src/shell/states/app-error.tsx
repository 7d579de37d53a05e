import { type CaughtError, useRetry } from '../../ui/boundary.tsx';
import { ErrorState } from '../../ui/error-state.tsx';

/** Replaces the whole app if even the shell fails to render. */
export function AppError(broken: CaughtError) {
  const retry = useRetry(broken);
  return (
    <ErrorState
      title="Something went wrong"
      error={broken.error}
      onRetry={retry}
      wholePage
      className="min-h-dvh"
    />
  );
}
