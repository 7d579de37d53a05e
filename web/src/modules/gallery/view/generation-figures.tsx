import type { Generation } from '@bakehouse/contract/generations';
import { formatDuration } from '../../../lib/format/format-time.ts';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';
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
