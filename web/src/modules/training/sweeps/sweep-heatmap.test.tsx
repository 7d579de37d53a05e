import type { Sweep } from '@bakehouse/contract/sweeps';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { SweepHeatmap } from './sweep-heatmap.tsx';

const losses: Record<string, number | null> = { '0.001 4': 2.5, '0.001 8': 2, '0.002 4': 3, '0.002 8': null };
const runs = Object.entries(losses).map(([values, best]) => {
  const [learning_rate, lora_r] = values.split(' ').map(Number);
  const held_out = best === null ? null : { best, best_step: 1, last: best, reward_accuracy: null };
  return {
    run_id: values,
    state: best === null ? 'failed' : 'completed',
    held_out,
    parameters: { learning_rate, lora_r },
  };
});
const sweep = {
  ...{ runs, parameters: ['learning_rate', 'lora_r'], measure: 'eval_loss', best_run_id: '0.001 8' },
} as unknown as Sweep;

test('is a table of what was measured, by its values, with the best marked and what failed said', async () => {
  const routeTree = createRootRoute({
    component: () => <SweepHeatmap sweep={sweep} parameters={['learning_rate', 'lora_r']} />,
  });
  render(<RouterProvider router={createRouter({ routeTree, history: createMemoryHistory() }) as never} />);
  const table = await screen.findByRole('table', { name: 'Held-out loss by Learning rate and LoRA rank' });
  const cells = within(table)
    .getAllByRole('row')
    .slice(2)
    .map((row) =>
      [within(row).getByRole('rowheader'), ...within(row).getAllByRole('cell')].map((one) => one.textContent),
    );
  expect(cells).toEqual([
    ['0.001', '2.500', '2.000'],
    ['0.002', '3.000', 'failed'],
  ]);
  const best = within(table).getByTitle('Learning rate 0.001, LoRA rank 8');
  expect(within(best).getByLabelText('Best')).toBeTruthy();
  expect(within(table).getAllByLabelText('Best')).toHaveLength(1);
  expect(best.getAttribute('href')).toBe('/runs/0.001%208');
});
