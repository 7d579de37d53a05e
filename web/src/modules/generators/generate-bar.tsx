import { makesVideos } from '@bakehouse/contract/generators';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { sessionQuery } from '../accounts/session.ts';
import { Price } from '../generations/view/price.tsx';
import { isServed, waitsFor } from './form/waits-for.ts';
import { GeneratedBy } from './generated-by.tsx';
import { ListPrice } from './generation-price.tsx';
import { useGeneratorPage } from './generator-context.ts';
import { withFallback } from './veo-estimate.ts';

/** Generate with its price, or what it waits for. */
export function GenerateBar() {
  const { name, ownOnly, userId, isUserKnown, draft, serving, generation, isOpen } = useGeneratorPage();
  const { served, form, by, upstream, isBeingPrepared } = serving;
  const open = isServed(by, ownOnly);
  const isConnectable = serving.isConnectable && !ownOnly && !isBeingPrepared;
  const waits = !open && served.data !== undefined;
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        {isOpen && <Price quote={withFallback(name, draft.values, generation.quote)} />}
        {open && userId === undefined && upstream && !makesVideos(name) && (
          <ListPrice each={upstream.price} values={draft.values} known={isUserKnown} />
        )}
        <Button
          type="submit"
          variant="primary"
          size="lg"
          disabled={!open || !isUserKnown}
          loading={generation.isStarting}
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
            <GeneratedBy />
          ) : (
            <p className="text-balance text-center text-[0.8125rem] text-muted">
              <span id="waits-for">{waitsFor(form, { ownOnly, isBeingPrepared })}</span>
              {isConnectable && <ConnectLink />}
            </p>
          )
        }
      </QueryView>
    </div>
  );
}

/** Tells an operator how a service is connected. */
export function ConnectLink() {
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
