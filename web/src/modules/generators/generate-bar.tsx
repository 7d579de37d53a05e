import type { Provider } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { QueryView, type ViewedQuery } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { sessionQuery } from '../accounts/session.ts';
import { isServed, waitsFor } from './form/waits-for.ts';

/** Who serves which generator. */
export type Served = ViewedQuery<unknown> & {
  by: readonly Provider[];
  isBeingPrepared: boolean;
  /** Whether a service would serve it, once that is connected. */
  isConnectable: boolean;
};

type Props = {
  generator: Generator;
  ownOnly: boolean;
  served: Served;
  /** Stands beside the button. */
  price: ReactNode;
  /** Who generates, below the button. */
  generatedBy: ReactNode;
  busy: boolean;
  /** Until then nobody can say whether there is a key to generate with. */
  signInKnown: boolean;
};

/** Generate with its price, or what it waits for. */
export function GenerateBar({ generator, ownOnly, served, price, generatedBy, busy, signInKnown }: Props) {
  const open = isServed(served.by, ownOnly);
  const isConnectable = served.isConnectable && !ownOnly && !served.isBeingPrepared;
  const waits = !open && served.data !== undefined;
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        {open && price}
        <Button
          type="submit"
          variant="primary"
          size="lg"
          disabled={!open || !signInKnown}
          loading={busy}
          aria-describedby={waits ? 'waits-for' : undefined}
          className="min-w-36 flex-1"
        >
          Generate
        </Button>
      </div>
      <QueryView
        query={served}
        failed="Could not check whether this model is available"
        pending={
          <LoadingRegion>
            <Skeleton className="h-10" />
          </LoadingRegion>
        }
        compact
      >
        {() =>
          open ? (
            generatedBy
          ) : (
            <p className="text-balance text-center text-[0.8125rem] text-muted">
              <span id="waits-for">
                {waitsFor(generator, { ownOnly, isBeingPrepared: served.isBeingPrepared })}
              </span>
              {isConnectable && <ConnectLink />}
            </p>
          )
        }
      </QueryView>
    </div>
  );
}

/** Tells an operator how a service is connected. */
function ConnectLink() {
  const { data: user } = useQuery(sessionQuery);
  if (!user?.is_operator) return null;
  return (
    <>
      {' '}
      <Link
        to="/docs/$"
        params={{ _splat: 'operations' }}
        hash="services-that-generate-pictures"
        className="rounded text-accent-text underline underline-offset-2"
      >
        How to connect a service
      </Link>
    </>
  );
}
