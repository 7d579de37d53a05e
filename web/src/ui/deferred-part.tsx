import { createContext, type ReactNode, Suspense, use } from 'react';
import { LoadError } from '../lib/loadable.tsx';
import { Boundary, type Broken, useRetry } from './boundary.tsx';
import { ErrorState } from './error-state.tsx';
import { NotFetched } from './not-fetched.tsx';

type Props = {
  /** Stands there while the code is fetched. */
  pending?: ReactNode;
  /** Stands there where it cannot be had, until it can; otherwise the part says so itself. */
  unavailable?: ReactNode;
  children: ReactNode;
};

/** A part of a page whose code is fetched apart. Where that fails, the page around it stays as it is. */
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

/** Says that a part of the page is missing, and why. */
export function BrokenPart(broken: Broken) {
  const retry = useRetry(broken);
  const unavailable = use(Unavailable);
  if (unavailable !== undefined) return unavailable;
  if (broken.error instanceof LoadError)
    return <NotFetched error={broken.error} onRetry={retry} part="part of the page" />;
  return <ErrorState title="Something went wrong" error={broken.error} onRetry={retry} compact />;
}
