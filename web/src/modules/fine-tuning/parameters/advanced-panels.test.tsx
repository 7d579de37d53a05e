import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';

import { StepParameters } from '../wizard/steps/step-parameters.tsx';
import { initialState, withChange } from '../wizard/wizard-state.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => undefined) }));
vi.mock('../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));

test.each([
  [{}, []],
  [{ lora_r: 16 }, ['LoRA']],
  [{ use_rslora: true }, ['LoRA']],
  [{ use_dora: true }, ['LoRA']],
  [{ adaptation: 'qlora' as const }, ['Adaptation']],
  [{ adaptation: 'full' as const }, ['Adaptation']],
  [{ stride: 10 }, ['Segmentation']],
  [{ lr_scheduler: 'linear' as const }, ['Optimizer']],
  [{ early_stopping_patience: 3 }, ['Evaluation']],
  [
    { lora_target_modules: ['q_proj' as const], segmentation_method: 'nltk' as const },
    ['Segmentation', 'LoRA'],
  ],
])('a configuration with %j opens these panels: %j', (configuration, open) => {
  const state = withChange({ ...initialState, type: 'finetune' }, { do: 'apply', configuration });
  render(
    <QueryClientProvider client={queryClient}>
      <StepParameters wizard={{ state, problems: {}, validation: undefined, dispatch: () => undefined }} />
    </QueryClientProvider>,
  );
  const panels = ['Segmentation', 'Optimizer', 'Evaluation', 'Adaptation', 'LoRA'].flatMap((name) =>
    screen.queryAllByRole('button', { name }),
  );
  // Full fine-tuning has no adapter settings.
  expect(panels).toHaveLength('adaptation' in configuration && configuration.adaptation === 'full' ? 4 : 5);
  expect(
    panels.filter((one) => one.getAttribute('aria-expanded') === 'true').map((one) => one.textContent),
  ).toEqual(open);
});
