import { type Broken, useRetry } from '../../ui/boundary.tsx';
import { ErrorState } from '../../ui/error-state.tsx';

/** What stands in place of the whole app when even the shell broke: never a white page. */
export function AppError(broken: Broken) {
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
