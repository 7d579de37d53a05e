import { createContext, type ReactNode, Suspense, use } from 'react';
import { LoadError } from '../lib/loadable.tsx';
import { Boundary, type CaughtError, useRetry } from './boundary.tsx';
import { ErrorState } from './error-state.tsx';
import { LoadFailure } from './load-failure.tsx';

type Props = {
  /** Shown while the code loads. */
  pending?: ReactNode;
  /** Shown if the code fails to load. Defaults to an error message. */
  unavailable?: ReactNode;
  children: ReactNode;
};

/** A lazily loaded part of a page. If loading fails, the surrounding page is unaffected. */
export function DeferredPart({ pending, unavailable, children }: Props) {
  return (
    <Unavailable value={unavailable}>
      <Boundary fallback={BrokenPart}>
        <Suspense fallback={pending}>{children}</Suspense>
      </Boundary>
    </Unavailable>
  );
}

const Unavailable = createContext<ReactNode>(undefined);

/** Error message for a part of the page that failed to load or render. */
export function BrokenPart(broken: CaughtError) {
  const retry = useRetry(broken);
  const unavailable = use(Unavailable);
  if (unavailable !== undefined) return unavailable;
  if (broken.error instanceof LoadError)
    return <LoadFailure error={broken.error} onRetry={retry} part="part of the page" />;
  return <ErrorState title="Something went wrong" error={broken.error} onRetry={retry} compact />;
}
