import type { ApiKey } from '@bakehouse/contract/api-keys';
import { parseBgl } from '@bakehouse/contract/money';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { useNow } from '../../../lib/use-now.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Money } from '../../../ui/money.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { scopeChoice, scopeChoices } from './key-form.ts';

const TICK_MS = 30_000;
const periods = { day: 'today', month: 'this month', total: 'in total' } as const;

type Props = { apiKey: ApiKey; onChange: () => void; onRevoke: () => void };

/** A further API key: scope, spending and expiry. */
export function KeyRow({ apiKey, onChange, onRevoke }: Props) {
  const now = useNow(TICK_MS);
  const { name, scopes, expires_at, last_used_at, created_at, budget } = apiKey;
  const hasExpired = expires_at !== null && new Date(expires_at) <= now;
  const scope = scopeChoices.find(({ value }) => value === scopeChoice(scopes));
  const isUsedUp = budget !== null && promisedMicro(budget) >= parseBgl(budget.amount);
  const end = expires_at && `${hasExpired ? 'Expired' : 'Expires'} ${formatDateTime(new Date(expires_at))}`;
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-3 px-5 py-3.5">
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-2 font-medium [overflow-wrap:anywhere]">
          {name}
          <Badge>{scope?.label}</Badge>
          {hasExpired && <Badge tone="bad">Expired</Badge>}
          {isUsedUp && <Badge tone="warn">Budget used up</Badge>}
        </p>
        <p className="text-compact text-muted tabular-nums">
          {last_used_at ? (
            <>
              Last used <RelativeTime at={last_used_at} inSentence />
            </>
          ) : (
            'Never used'
          )}
          {` · Created ${formatDateTime(new Date(created_at))}`}
          {` · ${end ?? 'Does not expire'}`}
        </p>
      </div>
      <div className="min-w-0 basis-56 text-compact text-muted max-sm:basis-full">
        {budget ? <Budget budget={budget} /> : 'No budget'}
      </div>
      <div className="flex gap-2">
        <Button size="sm" aria-label={`Change ${name}`} onClick={onChange}>
          Change
        </Button>
        <Button size="sm" aria-label={`Revoke ${name}`} onClick={onRevoke}>
          Revoke
        </Button>
      </div>
    </li>
  );
}

type KeyBudget = NonNullable<ApiKey['budget']>;

/** Returns the sum of spent and held credit. */
function promisedMicro({ spent, held }: KeyBudget): bigint {
  return parseBgl(spent) + parseBgl(held);
}

function Budget({ budget }: { budget: KeyBudget }) {
  const { amount, period, spent, held, renews_at } = budget;
  return (
    <>
      <Progress
        hideLabel
        label={`Budget ${periods[period]}`}
        value={Math.min(100, Number((promisedMicro(budget) * 100n) / parseBgl(amount)))}
        className="mb-1.5"
      />
      <p>
        <Money bgl={spent} className="font-medium text-ink" /> of <Money bgl={amount} /> spent{' '}
        {periods[period]}
      </p>
      {parseBgl(held) > 0n && (
        <p>
          <Money bgl={held} /> held for running work
        </p>
      )}
      {renews_at && <p>Renews {formatDateTime(new Date(renews_at))}</p>}
    </>
  );
}
