import type { Machine } from '@bakehouse/contract/machine';

export type PreparationId = Machine['preparations'][number]['id'];

/** The steps by the names that people read, in their order. */
export const preparationLabels: Record<PreparationId, string> = {
  serving: 'Text serving',
  'starter-language-model': 'Starter language model',
  training: 'Fine-tuning',
};

/** In the order in which they are done: each needs those before it. */
export const preparationIds: PreparationId[] = ['serving', 'starter-language-model', 'training'];
