import { expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testServer } from '../../../testing/test-server.ts';
import { getUserTotals } from '../queries.ts';
import { expireGivenJob } from './ledger-jobs.ts';

test('the starting grant expires after the configured days', async () => {
  const clock = fakeClock();
  const server = await testServer({ clock, config: { startingGrantBgl: '5', startingGrantDays: 30 } });
  const ada = await server.signUp('Ada');
  const balanceAfter = async (step: Parameters<typeof clock.advance>[0]) => {
    clock.advance(step);
    await expireGivenJob.run(server.services, {}, new AbortController().signal);
    return (await getUserTotals(server.services.db, ada.userId)).balance;
  };
  expect(await balanceAfter({ days: 29 })).toBe(5_000_000n);
  expect(await balanceAfter({ days: 1 })).toBe(0n);
});
