import { expect, it } from 'vitest';
import { preparationIds } from './preparation-ids.ts';

it('prepares vLLM only on machines with a GPU for it, and last, because chat and training need less', () => {
  expect(preparationIds({ hasGpus: false })).not.toContain('vllm');
  expect(preparationIds({ hasGpus: true }).at(-1)).toBe('vllm');
});
