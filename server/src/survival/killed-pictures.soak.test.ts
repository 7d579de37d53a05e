import { listTransactions } from '@bakehouse/contract/credits';
import { expect, test, vi } from 'vitest';
import { killGenerating, startGenerating } from '../testing/start-generating.ts';
import { testGenerations } from '../testing/test-generations.ts';

/** More kills than a generation has attempts. */
const ROUNDS = 50;
const LIMIT_MS = 3_600_000;
const AT_ONCE = 4;

const setting = await testGenerations({ generates: false });
const { server, stub, clock } = setting;

test('kill -9 of the generating process, even many times, fails no generation and charges none twice', {
  timeout: LIMIT_MS,
}, async () => {
  const ada = await server.signUp('Ada');
  stub.answer = 'hang';
  const asked = await Promise.all(Array.from({ length: AT_ONCE }, () => setting.generate(ada)));
  for (let round = 1; round <= ROUNDS; round += 1) {
    const child = await startGenerating(server, clock.now());
    // Ada may use the whole queue except the last slot, which is reserved for another user.
    await vi.waitFor(() => expect(stub.open).toBe(AT_ONCE - 1));
    await killGenerating(child);
    await vi.waitFor(() => expect(stub.open).toBe(0));
    clock.advance({ seconds: 16 });
  }
  stub.answer = 'ok';
  await startGenerating(server, clock.now());
  for (const { id } of asked) await setting.until(ada, id, 'completed');
  const call = { params: { userId: ada.userId }, query: {} };
  const { transactions } = await server.request(listTransactions, call, { as: ada });
  expect(transactions.filter(({ description }) => description === 'Picture by Paris starter')).toHaveLength(
    AT_ONCE,
  );
});
