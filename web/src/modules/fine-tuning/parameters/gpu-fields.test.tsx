import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen, within } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { pricesQuery } from '../../billing/credit-queries.ts';
import { useMachine } from '../../machines/machine-queries.ts';
import { countObstacle } from './count-obstacle.ts';
import { GpuFields } from './gpu-fields.tsx';
import { initialParameters } from './training-parameters.ts';

vi.mock('../../machines/machine-queries.ts', async (original) => ({
  ...(await original<typeof import('../../machines/machine-queries.ts')>()),
  useMachine: vi.fn<typeof useMachine>(),
}));

const h100 = { gpu_type: 'NVIDIA_H100_80GB', label: 'NVIDIA H100 (80GB)', count: 1 };
const client = new QueryClient();
client.setQueryData(pricesQuery.queryKey, {
  prices: [
    { id: 'training:CPU', label: '', unit: 'hour', unit_price: '2.5', next: null },
    { id: 'training:NVIDIA_TESLA_A100', label: '', unit: 'hour', unit_price: '50', next: null },
    { id: 'training:NVIDIA_H100_80GB', label: '', unit: 'hour', unit_price: '100', next: null },
  ],
});

function show(
  accelerators: { gpu_type: string; label: string; count: number }[],
  parameters = {},
  problems = {},
) {
  vi.mocked(useMachine).mockReturnValue({ data: { accelerators } } as ReturnType<typeof useMachine>);
  render(
    <QueryClientProvider client={client}>
      <GpuFields
        parameters={{ ...initialParameters, ...parameters }}
        problems={problems}
        onChange={() => undefined}
      />
    </QueryClientProvider>,
  );
}
const gpuChoice = () => screen.getByRole('combobox', { name: 'GPU' }).textContent;
const notes = () =>
  screen
    .getAllByText((_text, element) => element?.matches('.leading-5') ?? false)
    .map((one) => one.textContent)
    .join('\n');

it('reports that the run uses the CPU if there is no GPU, and offers none', () => {
  show([]);
  expect(screen.getByText('This machine’s CPU').textContent).toBe('This machine’s CPU at $0.10 an hour');
  expect(screen.queryByRole('combobox', { name: 'GPU' })).toBeNull();
  expect(screen.queryByRole('group', { name: 'Number of GPUs' })).toBeNull();
  expect(screen.getByText('No GPU on this machine.')).toBeTruthy();
});

it('offers the choice if it is invalid', () => {
  show([], { accelerator_type: null }, { accelerator_type: 'Please select a GPU configuration' });
  expect(screen.getByText('Please select a GPU configuration')).toBeTruthy();
});

it('offers one, two, four or eight GPUs, defaulting to one', () => {
  show([h100]);
  const counts = screen.getByRole('group', { name: 'Number of GPUs' }).querySelectorAll('button');
  expect([...counts].map(({ textContent }) => textContent)).toEqual(['1', '2', '4', '8']);
  expect(initialParameters.accelerator_count).toBe(1);
});

it('names the available GPUs if the machine lacks the chosen one', () => {
  show([{ ...h100, count: 2 }]);
  expect(notes()).toMatch(
    /goes to its NVIDIA H100 \(80GB\) at \$4\.00 an hour if that is large enough, otherwise to its CPU at \$0\.10/,
  );
});

it('shows the hourly price of an available GPU', () => {
  show([h100], { accelerator_type: 'NVIDIA_H100_80GB' });
  expect(gpuChoice()).toBe('NVIDIA H100 (80GB)');
  expect(notes()).toMatch(/The run goes to this GPU, at \$4\.00 an hour\.$/);
});

it('disables unsupported GPU counts and explains why', () => {
  show([{ ...h100, count: 2 }]);
  const counts = within(screen.getByRole('group', { name: 'Number of GPUs' })).getAllByRole('button');
  expect(counts.map((one) => [one.textContent, (one as HTMLButtonElement).disabled])).toEqual([
    ['1', false],
    ['2', false],
    ['4', true],
    ['8', true],
  ]);
  expect(screen.getByText(/the same result\. No machine here has 4 GPUs of one kind\.$/)).toBeTruthy();
});

it('rejects a saved configuration with more GPUs than available', () => {
  show([h100], { accelerator_count: 4 });
  expect(screen.getByRole('button', { name: '4' }).getAttribute('aria-pressed')).toBe('true');
  expect(screen.getByText('No machine here has 4 GPUs of one kind.')).toBeTruthy();
});

it('shows that each of several GPUs is charged', () => {
  show([{ ...h100, count: 4 }], { accelerator_type: 'NVIDIA_H100_80GB', accelerator_count: 4 });
  expect(notes()).toMatch(/The run goes to 4 of these GPUs, each at \$4\.00 an hour\.$/);
});

const asked = {
  ...({ accelerator_type: 'NVIDIA_H100_80GB', adaptation: 'lora' } as const),
  use_dora: false,
  ...{ batch_size: 1, gradient_accumulation_steps: 4 },
};
const eight = [{ ...h100, count: 8 }];

it.each<[number, Partial<Parameters<typeof countObstacle>[1]>, typeof eight, string | null]>([
  [4, {}, eight, null],
  [8, {}, eight, '8 GPUs cannot share the 4 rows of a step (batch size x gradient accumulation).'],
  [8, { batch_size: 2 }, eight, null],
  [2, { adaptation: 'full' }, eight, 'Full fine-tuning trains on one GPU.'],
  [2, { adaptation: 'qlora' }, eight, 'QLoRA trains on one GPU.'],
  [2, { use_dora: true }, eight, 'DoRA trains on one GPU.'],
  [2, { adaptation: 'full', use_dora: true }, eight, 'Full fine-tuning trains on one GPU.'],
  [1, { adaptation: 'full' }, eight, null],
  [2, {}, [{ ...h100, gpu_type: 'L40S', count: 8 }, h100], 'No machine here has 2 GPUs of this kind.'],
  [4, { accelerator_type: 'NVIDIA_TESLA_A100' }, eight, null],
  [8, { adaptation: 'full' }, [], null],
])('explains why a run cannot use %i GPUs with %o', (count, more, here, obstacle) => {
  expect(countObstacle(count, { ...asked, ...more }, here)).toBe(obstacle);
});
