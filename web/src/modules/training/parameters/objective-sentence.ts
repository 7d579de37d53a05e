import type { DataFormatName, Objective } from '@bakehouse/contract/limits';

/** What a model learns of preferences; null of other rows, whose answers it learns. */
export function objectiveSentence(format: DataFormatName | null, objective: Objective): string | null {
  if (format !== 'preference') return null;
  return objective === 'dpo'
    ? 'The model learns to prefer the better answers (DPO).'
    : 'The model learns the better answers. The worse ones are not used.';
}
