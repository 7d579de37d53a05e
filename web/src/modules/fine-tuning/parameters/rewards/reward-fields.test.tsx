import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { blankReward, type RewardDraft } from './reward-draft.ts';
import { RewardFields } from './reward-fields.tsx';

let latest: RewardDraft[] = [];

function Form() {
  const [rewards, setRewards] = useState<RewardDraft[]>([blankReward]);
  latest = rewards;
  return <RewardFields rewards={rewards} problem={undefined} onChange={setRewards} />;
}

test('rewards can be added, edited and removed, except the last one', async () => {
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
