import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { Money } from '../../../../ui/money.tsx';
import { gpusHere } from '../../../machines/devices.ts';
import { useMachine } from '../../../machines/machine-queries.ts';

type Props = { recommended: FineTuneValidation['recommendations']['recommended_gpus'] };

/** GPUs with enough memory for the run, cheapest first, whether or not they are available here. */
export function RecommendedGpus({ recommended }: Props) {
  const machine = useMachine();
  const here = machine.data && gpusHere(machine.data);
  if (recommended.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1.5 font-medium text-compact">Recommended GPUs</h3>
      <ul className="list-disc pl-4 text-compact text-muted">
        {recommended.map(({ gpu_type, description, cost }) => (
          <li key={gpu_type}>
            {description}, <Money bgl={cost} />
            {here && !here.has(gpu_type) && '; not on this machine'}
          </li>
        ))}
      </ul>
    </section>
  );
}
