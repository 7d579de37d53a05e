import type { Configuration } from '@bakehouse/contract/configurations';
import { countOf } from '../../../lib/format/count-of.ts';
import { withMinus } from '../../../lib/format/format-number.ts';

type Described = Pick<Configuration, 'fine_tune_payload' | 'hfModelId'>;

/** Returns a one-line summary of the values that a configuration would fill in, separated by dots. */
export function describeConfiguration({ fine_tune_payload: saved, hfModelId }: Described): string {
  const parts = [
    hfModelId,
    saved.epochs !== undefined && countOf(saved.epochs, 'epoch'),
    saved.learning_rate !== undefined && `learning rate ${withMinus(saved.learning_rate)}`,
    saved.adaptation === 'full' && 'all weights',
    saved.adaptation === 'qlora' && 'QLoRA',
    saved.use_dora && 'DoRA',
    saved.lora_r !== undefined && `rank ${saved.lora_r}`,
    saved.file_name,
  ];
  return parts.flatMap((part) => (part ? [`${part} · `] : [])).join('');
}
