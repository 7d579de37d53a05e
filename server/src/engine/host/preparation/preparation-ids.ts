import type { Machine } from '@bakehouse/contract/machines';

export type PreparationId = Machine['preparations'][number]['id'];

/** User-facing names of the steps, in order. */
export const preparationLabels: Record<PreparationId, string> = {
  serving: 'Text serving',
  'starter-language-model': 'Starter language model',
  'starter-embedding-model': 'Starter embedding model',
  training: 'Fine-tuning',
  'starter-image-model': 'Starter picture models',
  vllm: 'Text serving on GPUs',
};

/** Preparation steps in order: each step needs the earlier ones or is less urgent. */
export function preparationIds({ hasGpus }: { hasGpus: boolean }): PreparationId[] {
  return [
    'serving',
    'starter-language-model',
    'starter-embedding-model',
    'training',
    'starter-image-model',
    ...(hasGpus ? (['vllm'] as const) : []),
  ];
}
