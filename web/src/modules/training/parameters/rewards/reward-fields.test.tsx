import { listAssets } from '@bakehouse/contract/assets';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { blankReward, type RewardDraft, rewardsProblem, toReward } from './reward-draft.ts';
import { RewardFields } from './reward-fields.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));

let latest: RewardDraft[] = [];

function Form() {
  const [rewards, setRewards] = useState<RewardDraft[]>([blankReward]);
  latest = rewards;
  return <RewardFields rewards={rewards} problem={undefined} onChange={setRewards} />;
}

test('rewards are added, written and removed, and the last one stays', async () => {
  const user = userEvent.setup();
  render(<Form />);
  expect(screen.queryByRole('button', { name: 'Remove reward 1' })).toBeNull();
  await user.type(screen.getByRole('textbox', { name: 'Pattern' }), '^Yes');
  expect(latest).toEqual([{ ...blankReward, pattern: '^Yes' }]);
  await user.click(screen.getByRole('button', { name: 'Add reward' }));
  expect(latest).toHaveLength(2);
  await user.click(screen.getByRole('button', { name: 'Remove reward 1' }));
  expect(latest).toEqual([blankReward]);
  for (let count = 1; count < 8; count += 1)
    await user.click(screen.getByRole('button', { name: 'Add reward' }));
  expect(latest).toHaveLength(8);
  expect(screen.queryByRole('button', { name: 'Add reward' })).toBeNull();
});

test('a reward model is one of the fine-tunes', async () => {
  const model = { starter_task: null, pipeline: null, file_count: 3, size_bytes: 1, is_starter: false };
  const datasets = [
    { ...model, dataset_id: 'b1', title: 'A base', parent_dataset_id: null },
    { ...model, dataset_id: 't1', title: 'Taste', parent_dataset_id: 'b1' },
  ];
  vi.mocked(call).mockImplementation(async (endpoint) =>
    endpoint === listAssets ? { datasets, next_cursor: null } : datasets[1],
  );
  const user = userEvent.setup();
  render(
    <QueryClientProvider client={queryClient}>
      <Form />
    </QueryClientProvider>,
  );
  await user.click(screen.getByRole('combobox', { name: 'Reward 1' }));
  await user.click(await screen.findByRole('option', { name: 'Reward model' }));
  expect(rewardsProblem(latest, false)).toBe('Choose a reward model');
  await user.click(await screen.findByRole('combobox', { name: 'Reward model' }));
  await user.click(await screen.findByRole('option', { name: /Taste/ }));
  expect(screen.queryByRole('option', { name: /A base/ })).toBeNull();
  expect(rewardsProblem(latest, false)).toBeUndefined();
  expect(latest.map(toReward)).toEqual([{ type: 'model', model_id: 't1', weight: 1 }]);
});
