import type { Deployment } from '@bakehouse/contract/deployments/text';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { deviceName } from '../../machines/devices.ts';
import { sleepNote } from './sleeps-after.ts';

type Facts =
  | 'pod_id'
  | 'model_id'
  | 'model_name'
  | 'title'
  | 'created_at'
  | 'device'
  | 'price_per_hour'
  | 'cost_so_far'
  | 'terminated_at'
  | 'last_request_at'
  | 'sleeps_after_minutes'
  | 'max_replicas';

type Props = {
  deployment: Pick<Deployment, Facts> & Partial<Pick<Deployment, 'replicas'>>;
  /** A figure specific to the deployment's kind, shown next to its model. */
  kind: ReactNode;
  priceNote: ReactNode;
  costNote?: ReactNode;
};

/** Facts about a deployment: id, model, location and cost. */
export function DeploymentFacts({ deployment, kind, priceNote, costNote }: Props) {
  const { pod_id, model_id, model_name, title, device, price_per_hour, cost_so_far } = deployment;
  const { created_at, terminated_at, last_request_at, sleeps_after_minutes } = deployment;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-4">
      <Figure label="Model ID" note="for API calls">
        <span className="font-mono text-compact">{model_name}</span>
      </Figure>
      <Figure
        label="Deployed"
        note={<span className="font-mono text-xs [overflow-wrap:anywhere]">{pod_id}</span>}
      >
        {formatDateTime(new Date(created_at))}
      </Figure>
      <Figure label="Model">
        <Link
          to="/model/$id/description"
          params={{ id: model_id }}
          className="text-accent-text hover:underline"
        >
          {title}
        </Link>
      </Figure>
      {kind}
      <Figure label="Runs on" note={replicasNote(deployment)}>
        {deviceName(device)}
      </Figure>
      <Figure label="Price" note={priceNote}>
        <Money unrounded bgl={price_per_hour} /> per hour
      </Figure>
      <Figure label="Cost so far" note={costNote}>
        <Money bgl={cost_so_far} />
      </Figure>
      {terminated_at === null ? (
        <Figure label="Last request" note={sleepNote(sleeps_after_minutes)}>
          {lastRequest({ last_request_at })}
        </Figure>
      ) : (
        <Figure label="Ended">{formatDateTime(new Date(terminated_at))}</Figure>
      )}
    </dl>
  );
}

type SummaryProps = {
  deployment: Pick<
    Deployment,
    'model_name' | 'device' | 'price_per_hour' | 'sleeps_after_minutes' | 'terminated_at'
  >;
};

/** The facts that a user needs most, on one line. */
export function DeploymentSummary({ deployment }: SummaryProps) {
  const { model_name, device, price_per_hour, sleeps_after_minutes: minutes, terminated_at } = deployment;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <span className="inline-flex min-w-0 items-center gap-1">
        <code className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{model_name}</code>
        <CopyButton text={model_name} label="Copy the model name for API calls" />
      </span>
      <span>· {deviceName(device)}</span>
      <span>
        · <Money unrounded bgl={price_per_hour} /> an hour
      </span>
      {terminated_at === null && (
        <span>· {minutes === null ? 'never sleeps' : `sleeps after ${formatNumber(minutes)} min`}</span>
      )}
    </span>
  );
}

/** Returns the number of replicas if there may be several. */
function replicasNote({
  replicas,
  max_replicas,
}: Pick<Props['deployment'], 'replicas' | 'max_replicas'>): string | undefined {
  return max_replicas > 1 ? `${replicas} of up to ${max_replicas} replicas` : undefined;
}

/** Returns the time of the last request. */
export function lastRequest({ last_request_at }: Pick<Deployment, 'last_request_at'>): ReactNode {
  return last_request_at === null ? 'None yet' : <RelativeTime at={last_request_at} />;
}
