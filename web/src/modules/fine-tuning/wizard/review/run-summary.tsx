import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { gpuLabel } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { countOf } from '../../../../lib/format/count-of.ts';
import { currencyChoice, showApart, showLimit } from '../../../../lib/format/currency.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { aboutDuration } from '../../../../lib/format/format-time.ts';
import { Button } from '../../../../ui/button.tsx';
import { assetQuery } from '../../../datasets/asset-queries.ts';
import { deviceName } from '../../../machines/devices.ts';
import type { StepId, Wizard } from '../wizard-state.ts';
import { highestCost } from './agreed-cost.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'dispatch'>; validation: FineTuneValidation };

/** The choices of a run with its duration, its cost, and a link to the step of each choice. */
export function RunSummary({ wizard: { state, dispatch }, validation }: Props) {
  const currency = currencyChoice.use();
  const base = useTitle(state.baseModelId) ?? state.hubModelId;
  const dataset = useTitle(state.datasetId);
  const { cost_estimate: cost, data, placement } = validation;
  const highest = highestCost(validation, state.ceiling);
  const [expected] = showApart(cost.quote.total, highest, currency);
  const examples = data && countOf(data.train_examples + data.eval_examples, 'example');
  const rows: [label: string, value: ReactNode, step?: StepId | undefined][] = [
    ['Model', state.name, 'details'],
    ['Base', base, 'selection'],
    ['File', [dataset, state.fileName].filter(Boolean).join(', '), 'selection'],
    ['Data', examples && (validation.reading ? `About ${examples}` : examples)],
    ['Epochs', formatNumber(state.parameters.epochs), 'parameters'],
    // A machine without a GPU offers no other device.
    ['Runs on', deviceOf(placement), placement.device === 'cpu' ? undefined : 'parameters'],
    ['Time', aboutDuration(cost.duration_hours * 3600).replace(/^a/, 'A')],
    ['Cost', `About ${expected}`],
  ];
  return (
    <div>
      <dl className="divide-y divide-line rounded-xl border border-line">
        {rows.map(([label, value, step]) => (
          <div key={label} className="flex min-h-11 items-center gap-4 px-4 py-1.5">
            <dt className="w-20 shrink-0 text-muted">{label}</dt>
            <dd className="flex min-w-0 flex-1 items-center gap-4 font-medium tabular-nums">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{value || '–'}</span>
              {step && (
                <Button
                  variant="ghost"
                  size="sm"
                  aria-label={`Edit: ${label}`}
                  onClick={() => dispatch({ do: 'back', to: step })}
                >
                  Edit
                </Button>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p className="mt-3">You pay for the time used, never more than {showLimit(highest, currency)}.</p>
    </div>
  );
}

function deviceOf({ gpu_type }: FineTuneValidation['placement']): string {
  return gpu_type === null ? deviceName('CPU') : gpuLabel(gpu_type);
}
function useTitle(assetId: string | null): string | undefined {
  return useQuery({ ...assetQuery(assetId ?? ''), enabled: assetId !== null }).data?.title;
}
