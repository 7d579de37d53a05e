import type { DataFormatName, Objective } from '@bakehouse/contract/limits';

/** Returns how a model learns from compared or rated answers; null if the rows have neither. */
export function objectiveSentence(format: DataFormatName | null, objective: Objective): string | null {
  if (format === 'feedback') {
    return objective === 'kto'
      ? 'The model learns from good and bad answers (KTO).'
      : 'The model learns the good answers. The bad ones are not used.';
  }
  if (format === 'prompts')
    return 'The model answers the prompts, and learns from the rewards of its answers (GRPO).';
  if (format !== 'preference') return null;
  return objective === 'dpo'
    ? 'The model learns to prefer the better answers (DPO).'
    : 'The model learns the better answers. The worse ones are not used.';
}
