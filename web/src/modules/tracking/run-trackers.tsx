import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type listTrackedRuns, trackerLabels } from '@bakehouse/contract/trackers';
import { Link } from '@tanstack/react-router';
import { Download, ExternalLink } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useDownloadEvents, useRunTrackers } from './tracking-calls.ts';

/** External trackers that also log the run's curves. */
export function RunTrackers({ runId }: { runId: string }) {
  const download = useDownloadEvents(runId);
  return (
    <Card
      title="Experiment tracking"
      actions={
        <Button size="sm" loading={download.isPending} onClick={() => download.mutate()}>
          <Download aria-hidden />
          TensorBoard
        </Button>
      }
    >
      <div className="min-h-10 text-compact">
        <QueryView
          query={useRunTrackers(runId)}
          failed="The trackers of this run could not be loaded"
          pending={<Skeleton className="h-10" />}
          isEmpty={({ trackers }) => trackers.length === 0}
          empty={<NoTracker />}
          compact
          flush
        >
          {({ trackers }) => (
            <ul className="grid gap-2">
              {trackers.map((one) => (
                <li key={one.service}>
                  <Tracker {...one} />
                </li>
              ))}
            </ul>
          )}
        </QueryView>
      </div>
    </Card>
  );
}

function NoTracker() {
  return (
    <p className="text-muted">
      This run is not logged to an external tracker. Connect Weights & Biases or MLflow in your{' '}
      <Link to="/profile" className="rounded text-accent-text underline underline-offset-2">
        profile
      </Link>{' '}
      to log later runs there.
    </p>
  );
}

type Logged = ResponseOf<typeof listTrackedRuns>['trackers'][number];

function Tracker({ service, url, trouble }: Logged) {
  const name = trackerLabels[service];
  return (
    <>
      {url === null ? (
        <span className="text-muted">{`${name}: after the first steps`}</span>
      ) : (
        <a
          href={url}
          target="_blank"
          rel="noreferrer noopener"
          className="inline-flex items-center gap-1.5 text-accent-text hover:underline [&>svg]:size-3.5"
        >
          {name}
          <ExternalLink aria-hidden />
        </a>
      )}
      {trouble !== null && <p className="text-bad">{trouble}</p>}
    </>
  );
}
