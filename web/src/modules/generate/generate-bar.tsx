import { makesVideos } from '@bakehouse/contract/generators';
import { Button } from '../../ui/button.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { isProbablySignedIn } from '../accounts/session.ts';
import { Price } from '../gallery/view/price.tsx';
import { isServed } from './form/unavailable-reason.ts';
import { GeneratedBy } from './generated-by.tsx';
import { ListPrice } from './generation-price.tsx';
import { useGeneratorPage } from './generator-context.ts';
import { withFallback } from './veo-estimate.ts';

/** Id of the notice that the model is being prepared. */
export const PREPARING_ID = 'preparing';

/** The Generate button with its price and provider. */
export function GenerateBar() {
  const { name, ownOnly, userId, isUserKnown, draft, serving, generation, isOpen } = useGeneratorPage();
  const { served, by, upstream } = serving;
  const open = isServed(by, ownOnly);
  // Reserves the height until the provider is known.
  const hasPrice = isOpen || (isProbablySignedIn() && (serving.isLoading || !isUserKnown));
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        {hasPrice && <Price quote={withFallback(name, draft.values, generation.quote)} />}
        {open && userId === undefined && upstream && !makesVideos(name) && (
          <ListPrice each={upstream.price} values={draft.values} known={isUserKnown} />
        )}
        <Button
          type="submit"
          variant="primary"
          size="lg"
          disabled={!open || !isUserKnown}
          loading={generation.isStarting}
          aria-describedby={serving.isBeingPrepared && !open ? PREPARING_ID : undefined}
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
        {() => open && <GeneratedBy />}
      </QueryView>
    </div>
  );
}
