import { render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { useMachine } from '../../machines/machine-queries.ts';
import { ExpertPanels } from './expert-panels.tsx';
import { initialParameters } from './training-parameters.ts';

vi.mock('../../machines/machine-queries.ts', async (original) => ({
  ...(await original<typeof import('../../machines/machine-queries.ts')>()),
  useMachine: vi.fn<typeof useMachine>(),
}));

const h100 = { gpu_type: 'NVIDIA_H100_80GB', label: 'NVIDIA H100 (80GB)', count: 1 };

function show(accelerators: (typeof h100)[], values: Partial<typeof initialParameters>) {
  vi.mocked(useMachine).mockReturnValue({ data: { accelerators } } as ReturnType<typeof useMachine>);
  const parameters = { ...initialParameters, lora_r: 16, ...values };
  render(<ExpertPanels values={parameters} problems={{}} onChange={() => undefined} />);
}

it.each([
  ['qlora', [], true],
  ['qlora', [h100], false],
  ['lora', [], false],
] as const)('%s on the GPUs %j reports that there is none: %s', (adaptation, gpus, isRefused) => {
  show([...gpus], { adaptation });
  const refusal = 'QLoRA needs a GPU, and there is none here: choose LoRA';
  expect(screen.queryAllByText(refusal)).toHaveLength(isRefused ? 1 : 0);
});

it('offers DoRA only with plain adapters', () => {
  show([h100], { adaptation: 'lora' });
  expect(screen.getByRole('checkbox', { name: /DoRA/ })).toBeTruthy();
  document.body.replaceChildren();
  show([h100], { adaptation: 'qlora' });
  expect(screen.getByRole('checkbox', { name: /rsLoRA/ })).toBeTruthy();
  expect(screen.queryByRole('checkbox', { name: /DoRA/ })).toBeNull();
});
