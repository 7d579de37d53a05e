import { render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { useMachine } from '../machine/api.ts';
import { initialParameters } from './create-model-wizard-state.ts';
import { GpuFields } from './gpu-fields.tsx';

vi.mock('../machine/api.ts', async (original) => ({
  ...(await original<typeof import('../machine/api.ts')>()),
  useMachine: vi.fn<typeof useMachine>(),
}));

function show(accelerators: { gpu_type: string; label: string; count: number }[]) {
  vi.mocked(useMachine).mockReturnValue({ data: { accelerators } } as ReturnType<typeof useMachine>);
  render(<GpuFields parameters={initialParameters} problems={{}} onChange={() => undefined} />);
}
const gpuChoice = () => screen.queryByRole('combobox', { name: 'GPU' });
const countChoice = () => screen.queryByRole('group', { name: 'Number of GPUs' });

it('asks for no GPU where there is none', () => {
  show([]);
  expect(screen.getByText("This machine's CPU")).toBeTruthy();
  expect(gpuChoice()).toBeNull();
  expect(countChoice()).toBeNull();
});

it('names a GPU that the product does not list, and lets nobody choose others', () => {
  show([{ gpu_type: 'NVIDIA L40S', label: 'NVIDIA L40S', count: 2 }]);
  expect(screen.getByText('NVIDIA L40S')).toBeTruthy();
  expect(gpuChoice()).toBeNull();
  expect(countChoice()).toBeTruthy();
});

it('lets choose where there is a listed one, and says when the chosen one is not there', () => {
  show([{ gpu_type: 'NVIDIA_H100_80GB', label: 'NVIDIA H100 (80GB)', count: 1 }]);
  expect(gpuChoice()?.textContent).toContain('NVIDIA Tesla A100 (40GB)');
  expect(screen.getByText(/This machine has no/)).toBeTruthy();
});
