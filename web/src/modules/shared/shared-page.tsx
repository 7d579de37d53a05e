import { getShared, type SharedThing } from '@bakehouse/contract/share-links';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { loadable } from '../../lib/loadable.tsx';
import { DeferredPart } from '../../ui/deferred-part.tsx';
import { Missing } from '../../ui/missing.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { columnsClass } from './columns-class.ts';

const SharedGeneration = loadable(async () => (await import('./shared-generation.tsx')).SharedGenerationPage);
const SharedRun = loadable(async () => (await import('./shared-run.tsx')).SharedRunPage);
const SharedModel = loadable(async () => (await import('./shared-model.tsx')).SharedModelPage);

/** A run that goes on is looked at again: no event stream tells a visitor of it. */
const POLL_MS = 15_000;

const route = getRouteApi('/public/share/$token');

/** What somebody shares by a link, for whoever has it, signed in or not. */
export function SharedPage() {
  const { token } = route.useParams();
  const query = useQuery({
    ...endpointQuery(['shared', token], getShared, { params: { token } }),
    refetchInterval: ({ state: { data } }) => (data && isUnderWay(data) ? POLL_MS : false),
  });
  return (
    <QueryView
      query={query}
      failed="This page cannot be shown"
      pending={<PendingPage />}
      missing={
        <Missing
          title="This link does not work"
          text="It may be mistyped, or it is no longer shared."
          to="/dashboard"
          label="Go to Bakehouse"
        />
      }
    >
      {(shared) => (
        <DeferredPart pending={<PendingPage />}>
          <Thing shared={shared} />
        </DeferredPart>
      )}
    </QueryView>
  );
}

function isUnderWay(shared: SharedThing): boolean {
  return shared.kind === 'run' && !['completed', 'cancelled', 'failed'].includes(shared.state);
}

function Thing({ shared }: { shared: SharedThing }) {
  switch (shared.kind) {
    case 'generation':
      return <SharedGeneration shared={shared} />;
    case 'run':
      return <SharedRun shared={shared} />;
    case 'model':
      return <SharedModel shared={shared} />;
  }
}

function PendingPage() {
  return (
    <LoadingRegion>
      <Skeleton className="mb-2 h-7 w-48 max-w-full" />
      <Skeleton className="mb-6 h-5 w-24" />
      <div className={columnsClass}>
        <Skeleton className="aspect-square max-h-[40rem] w-full rounded-xl" />
        <Skeleton className="h-40 rounded-xl" />
      </div>
    </LoadingRegion>
  );
}
