import { deletePendingReferral, getPendingReferral, validateReferral } from '@bakehouse/contract/referrals';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { redeemPendingCode, xQuery } from './referral-calls.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const { signal } = new AbortController();
const redeem = () => redeemPendingCode('ada', signal);
const answers = new Map<unknown, unknown>();
const called = () => vi.mocked(call).mock.calls.map(([endpoint]) => endpoint);

function play(referralCode: string | null, data?: object, success = true) {
  answers.set(getPendingReferral, { referralCode });
  answers.set(validateReferral, { success, data: { reason: null, bonus: '125', is_new: true, ...data } });
}

beforeEach(() => {
  vi.mocked(call)
    .mockReset()
    .mockImplementation(async (endpoint) => answers.get(endpoint));
});

test('sends nothing else if the browser has no invitation code', async () => {
  play(null);
  expect(await redeem()).toBeNull();
  expect(called()).toEqual([getPendingReferral]);
  expect(vi.mocked(call).mock.calls[0]?.[2]).toMatchObject({ timeoutMs: 5_000, signal });
});

test('refetches the X post state before redeeming the code', async () => {
  const { queryKey } = xQuery('abcd2345');
  queryClient.setQueryData(queryKey, { status: 'connected', username: 'ada', postUrl: 'https://x.com/1' });
  play(null);
  await redeem();
  expect(queryClient.getQueryData(queryKey)?.postUrl).toBe('https://x.com/1');
  play('abcd2345');
  let known: unknown = 'not asked';
  vi.mocked(call).mockImplementation(async (endpoint) => {
    if (endpoint === validateReferral) known = queryClient.getQueryData(queryKey);
    return answers.get(endpoint);
  });
  await redeem();
  expect(known).toBeUndefined();
});

test('reports the bonus and deletes the code', async () => {
  play('abcd2345');
  expect(await redeem()).toEqual({ kind: 'given', bonus: '125' });
  expect(called()).toEqual([getPendingReferral, validateReferral, deletePendingReferral]);
});

test('reports an invalid code and deletes it', async () => {
  play('abcd2345', { reason: 'limit_reached', bonus: null, is_new: false }, false);
  expect(await redeem()).toEqual({ kind: 'refused' });
  expect(called()).toContain(deletePendingReferral);
});

test('reports each result once', async () => {
  play('abcd2345', { is_new: false });
  expect(await redeem()).toBeNull();
  expect(called()).toContain(deletePendingReferral);
});

test('keeps a code that waits for address confirmation', async () => {
  play('abcd2345', { reason: 'address_not_confirmed', bonus: null, is_new: false }, false);
  expect(await redeem()).toBeNull();
  expect(called()).not.toContain(deletePendingReferral);
});
