import type { vllmStats } from '@bakehouse/contract/deployments/text';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';

type Stats = ResponseOf<typeof vllmStats>;

/** Totals over the user's text deployments. */
export function DeploymentStats({ stats }: { stats: Stats }) {
  const { requests, completion_tokens: tokens, cost } = stats;
  return (
    <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
      <Figure card label="Running">
        <Running {...stats} />
      </Figure>
      <Figure card label="Requests">
        {formatNumber(requests)}
      </Figure>
      <Figure card label="Tokens generated">
        {formatNumber(tokens)}
      </Figure>
      <Figure card label="Cost">
        <Money bgl={cost} />
      </Figure>
    </dl>
  );
}

/** Number of running deployments, including sleeping ones, which answer after waking. */
function Running({ running, sleeping }: Pick<Stats, 'running' | 'sleeping'>) {
  return (
    <>
      {formatNumber(running)}
      {sleeping > 0 && (
        <span className="ml-2 whitespace-nowrap font-normal text-compact text-muted">
          {formatNumber(sleeping)} sleeping
        </span>
      )}
    </>
  );
}
