import type { Configuration } from '@bakehouse/contract/configurations';
import { countOf } from '../../../lib/format/count-of.ts';
import { withMinus } from '../../../lib/format/format-number.ts';
import { relativeTime } from '../../../lib/format/format-time.ts';

type Described = Pick<Configuration, 'fine_tune_payload' | 'hfModelId' | 'created_at'>;

/** What a template would fill in, in one line, and how old it is. */
export function describeConfiguration({
  fine_tune_payload: saved,
  hfModelId,
  created_at,
}: Described): string {
  const parts = [
    hfModelId,
    saved.epochs !== undefined && countOf(saved.epochs, 'epoch'),
    saved.learning_rate !== undefined && `learning rate ${withMinus(saved.learning_rate)}`,
    saved.lora_r !== undefined && `rank ${saved.lora_r}`,
    saved.file_name,
    `saved ${relativeTime(new Date(created_at)).toLowerCase()}`,
  ];
  return parts.filter(Boolean).join(' · ');
}
