import type { Generation } from '@bakehouse/contract/generations';
import { parseBgl } from '@bakehouse/contract/money';
import { cx } from '../../../lib/cx.ts';
import { formatDuration } from '../../../lib/format/format-time.ts';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { isUnderWay, secondsTaken } from '../generation-sentences.ts';

/** Cost and generation details of a picture. */
export function GenerationFigures({ generation }: { generation: Generation }) {
  const { expert_used: expert, routing_confidence: confidence, cost } = generation;
  const seconds = secondsTaken(generation);
  return (
    <dl className="grid grid-cols-[repeat(auto-fit,minmax(6.5rem,1fr))] gap-x-6 gap-y-3">
      <Figure label={isUnderWay(generation) ? 'Maximum cost' : 'Cost'}>
        <Money bgl={cost} />
      </Figure>
      {generation.provider === 'upstream' && <Figure label="Model">{generation.model}</Figure>}
      {expert !== null && <Figure label="Expert used">Expert {expert}</Figure>}
      {confidence !== null && <Figure label="Confidence">{Math.round(confidence * 100)}%</Figure>}
      {seconds !== null && (
        <Figure label="Time taken">
          {seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds)}
        </Figure>
      )}
    </dl>
  );
}

type Props = {
  quote: { data: { cost: string } | undefined; isError: boolean; isSettled: boolean };
  className?: string;
};

/** The price next to the button; "unknown" if it cannot be read. The server decides the held amount. */
export function Price({ quote, className }: Props) {
  const { data, isError, isSettled } = quote;
  const cost = isError ? null : data?.cost;
  return (
    <div className={className} role="group" aria-label="Price" aria-busy={!isSettled}>
      <p className="text-muted text-xs">Price</p>
      {cost === undefined ? (
        <Skeleton className="mt-1 h-6 w-16" />
      ) : cost === null ? (
        <p className="font-semibold text-lg">Unknown</p>
      ) : (
        <p className={cx('font-semibold text-lg', !isSettled && 'opacity-60')}>
          <Money bgl={cost} />
          {parseBgl(cost) === 0n && (
            <span className="ml-1.5 font-normal text-[0.8125rem] text-muted">Free</span>
          )}
        </p>
      )}
      {isError && (
        <p className="max-w-52 text-muted text-xs">
          The price could not be loaded. You pay what the server quotes.
        </p>
      )}
    </div>
  );
}
