import type { Licence } from '@bakehouse/contract/licences';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { Button } from '../../../ui/button.tsx';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { type Kind, kindRow, linkTo } from '../kinds.ts';
import { type DeploymentRequest, quoteQuery, useDeploy } from './use-deploy.ts';

type Props = {
  /** The deployment to create. Remount for another one. */
  request: DeploymentRequest;
  /** Defaults to 'Deploy'. */
  label?: string;
  /** The licence to accept, if any, and whether the click accepts it. */
  licence?: Licence | null;
  accepted?: boolean;
};

/** Deploys a model and navigates to its page. Shows the hourly price next to the button. */
export function DeployButton({ request, label = 'Deploy', licence = null, accepted = false }: Props) {
  const navigate = useNavigate();
  const quote = useQuery(quoteQuery(request, useUser().id));
  const deployment = useDeploy();
  const price = quote.data?.price_per_hour;
  // Not called if the user has left the page: the component is unmounted.
  const deploy = () =>
    deployment.mutate(
      { request, licence, price },
      { onSuccess: ({ pod_id }) => void navigate(linkTo({ kind: request.kind, pod_id })) },
    );
  return (
    <div className="flex items-center gap-2">
      {/* Reserves the two lines that the price has on a phone. */}
      <span className="block max-w-xs content-center text-compact text-muted [overflow-wrap:anywhere] max-sm:min-h-11">
        {price ? (
          <>
            <span role="status">{isPriceChange(deployment.error) && 'The price has changed: '}</span>
            <Money unrounded bgl={price} /> per hour plus {outputsOf(request.kind)}; an hour is held
          </>
        ) : quote.isError ? (
          errorMessage(quote.error)
        ) : (
          <>
            <span className="sr-only">Loading the price…</span>
            <Skeleton className="h-4 w-64 max-w-full" />
          </>
        )}
      </span>
      {quote.isError && price === undefined ? (
        <Button loading={quote.isFetching} onClick={() => void quote.refetch()}>
          Try again
        </Button>
      ) : (
        <Button
          variant="primary"
          disabled={price === undefined || (licence !== null && !accepted)}
          loading={deployment.isPending}
          onClick={deploy}
        >
          <Rocket aria-hidden />
          {label}
        </Button>
      )}
    </div>
  );
}

/** Returns what is billed in addition to time. */
function outputsOf(kind: Kind): string {
  const { output } = kindRow(kind);
  if (!output) return 'tokens';
  return output.makes === undefined ? 'pictures' : 'videos';
}
