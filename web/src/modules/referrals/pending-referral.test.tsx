import { deletePendingReferral, getPendingReferral, validateReferral } from '@bakehouse/contract/referrals';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { recordServerStatus, watchServer } from '../../lib/live/online.ts';
import { UserContext } from '../accounts/session.ts';
import { PendingReferral } from './pending-referral.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => () => undefined,
}));

const answers = new Map<unknown, () => unknown>();
const given = { reason: null, bonus: '125', is_new: true };
const shell = (email_verified: boolean) => (
  <QueryClientProvider client={queryClient}>
    <UserContext value={{ id: 'ada', email_verified } as never}>
      <PendingReferral userId="ada" />
    </UserContext>
  </QueryClientProvider>
);
const asked = (endpoint: unknown) =>
  vi.mocked(call).mock.calls.filter(([each]) => (each as unknown) === endpoint).length;

beforeEach(() => {
  queryClient.clear();
  answers
    .set(getPendingReferral, () => ({ referralCode: 'abcd2345' }))
    .set(validateReferral, () => ({ success: true, data: given }))
    .set(deletePendingReferral, () => ({}));
  vi.mocked(call)
    .mockReset()
    .mockImplementation(async (endpoint) => answers.get(endpoint)?.());
});

test('shows the bonus of an invitation', async () => {
  render(shell(true));
  expect(await screen.findByText(/\$5/)).toBeTruthy();
});

test('an invitation that waits for address confirmation counts after it', async () => {
  answers.set(validateReferral, () => ({ success: false, data: { reason: 'address_not_confirmed' } }));
  const { rerender } = render(shell(false));
  await vi.waitFor(() => expect(asked(validateReferral)).toBe(1));
  answers.set(validateReferral, () => ({ success: true, data: given }));
  rerender(shell(true));
  expect(await screen.findByText(/\$5/)).toBeTruthy();
});

test('a code that could not be redeemed is retried when the server is back', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new Error('away')));
  const stop = watchServer(() => undefined);
  answers.set(getPendingReferral, () => {
    throw new Error('away');
  });
  render(shell(true));
  await vi.waitFor(() => expect(asked(getPendingReferral)).toBe(1));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  act(() => void window.dispatchEvent(new Event('offline')));
  answers.set(getPendingReferral, () => ({ referralCode: 'abcd2345' }));
  act(() => recordServerStatus(200));
  expect(await screen.findByText(/\$5/)).toBeTruthy();
  stop();
  vi.unstubAllGlobals();
});
