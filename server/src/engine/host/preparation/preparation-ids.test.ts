import { expect, it } from 'vitest';
import { preparationIds } from './preparation-ids.ts';

it('prepares vLLM only where there is a GPU for it, and last, since chat and training need less', () => {
  expect(preparationIds({ hasGpus: false })).not.toContain('vllm');
  expect(preparationIds({ hasGpus: true }).at(-1)).toBe('vllm');
});
