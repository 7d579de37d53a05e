import type { AssetSummary } from '@bakehouse/contract/assets';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { UnfinishedBadge } from './unfinished-badge.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const model = (id: number, file_count = 0) => ({ dataset_id: `m${id}`, file_count }) as AssetSummary;
const models = [model(0, 3), ...Array.from({ length: 50 }, (_, n) => model(n + 1))];

function List() {
  return models.map((one) => <UnfinishedBadge key={one.dataset_id} model={one} models={models} />);
}

it('one query fetches the runs of all models without files, and again after each change of a run', async () => {
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const ids = (args[1] as { query: { model_id: string } }).query.model_id.split(',');
    expect(ids).toEqual(models.slice(1).map((one) => one.dataset_id));
    return { runs: [...ids, 'm0'].map((model_id) => ({ model_id, state: 'queued' })), next_cursor: null };
  });
  render(
    <QueryClientProvider client={queryClient}>
      <List />
    </QueryClientProvider>,
  );
  expect(await screen.findAllByText('Queued')).toHaveLength(50);
  expect(call).toHaveBeenCalledTimes(1);
  await queryClient.invalidateQueries({ queryKey: ['run'] });
  expect(call).toHaveBeenCalledTimes(2);
});
