import {
  type Tracker,
  type TrackerService,
  trackerLabels,
  trackerServices,
} from '@bakehouse/contract/trackers';
import { useQuery } from '@tanstack/react-query';
import { ChartLine } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { TrackerDialog } from './tracker-dialog.tsx';
import { trackersQuery, useDeleteTracker } from './tracking-calls.ts';

/** External trackers that also log the user's runs. */
export function TrackersCard() {
  return (
    <Card title="Experiment tracking" description="New runs are logged there while they train." flush>
      <QueryView
        query={useQuery(trackersQuery)}
        failed="Your experiment trackers could not be loaded"
        pending={<ListSkeleton rows={trackerServices.length} rowHeight={72} />}
        flush
        compact
      >
        {({ trackers }) => (
          <ul className="divide-y divide-line border-line border-t">
            {trackerServices.map((service) => (
              <TrackerRow
                key={service}
                service={service}
                tracker={trackers.find((one) => one.service === service) ?? null}
              />
            ))}
          </ul>
        )}
      </QueryView>
    </Card>
  );
}

function TrackerRow({ service, tracker }: { service: TrackerService; tracker: Tracker | null }) {
  const [open, setOpen] = useState<'form' | 'question' | null>(null);
  const disconnect = useDeleteTracker(service);
  const name = trackerLabels[service];
  const close = () => setOpen(null);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3.5">
      <ChartLine aria-hidden className="size-5 shrink-0 text-faint" />
      <div className="min-w-0 flex-1 basis-40">
        <p className="font-medium">{name}</p>
        <p className="text-compact text-muted [overflow-wrap:anywhere]">
          {tracker ? describe(tracker) : 'Not connected'}
        </p>
        {tracker?.trouble && <p className="text-compact text-bad">{tracker.trouble}</p>}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          aria-label={`${tracker ? 'Change' : 'Connect'} ${name}`}
          onClick={() => setOpen('form')}
        >
          {tracker ? 'Change' : 'Connect'}
        </Button>
        {tracker && (
          <Button size="sm" aria-label={`Disconnect ${name}`} onClick={() => setOpen('question')}>
            Disconnect
          </Button>
        )}
      </div>
      {open === 'form' && <TrackerDialog service={service} tracker={tracker} onClose={close} />}
      <ConfirmDialog
        open={open === 'question'}
        onOpenChange={close}
        title={`Disconnect ${name}?`}
        description="Your key is deleted here, and your runs are no longer logged there. Existing logs stay."
        action="Disconnect"
        pending={disconnect.isPending}
        onConfirm={() => disconnect.mutate(undefined, { onSuccess: close })}
      />
    </li>
  );
}

/** Returns 'Project loaves of ada' or 'Experiment loaves at https://…'. */
function describe({ service, project, account, url }: Tracker): string {
  if (service === 'mlflow') return `Experiment ${project} at ${url}`;
  return account ? `Project ${project} of ${account}` : `Project ${project}`;
}
