import {
  deletePendingReferral,
  endXAuth,
  finishXAuth,
  generateReferral,
  getPendingReferral,
  getXAuthStatus,
  getXPostStatus,
  postReferralToX,
  startXAuth,
  validateReferral,
} from '@bakehouse/contract/referrals';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';

const PENDING_MS = 5_000;

export const referralQuery = endpointQuery(['referral', 'own'], generateReferral);

const xKey = ['referral', 'x'];

/** Query for whether the invitation can be posted on X, and whether it was. */
export const xQuery = (code: string) =>
  queryOptions({
    queryKey: [...xKey, code],
    queryFn: async ({ signal }) => {
      const [account, post] = await Promise.all([
        call(getXAuthStatus, {}, { signal }),
        call(getXPostStatus, { query: { referral_code: code } }, { signal }),
      ]);
      return { status: account.status, username: account.username, postUrl: post.post_url };
    },
  });

/** Starts connecting X; its page redirects back here. */
export function useConnectX() {
  return useMutation({ mutationFn: () => call(startXAuth, {}) });
}

/** A mutation that updates the X state. */
function useXMutation<Input>(mutationFn: (input: Input) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => client.invalidateQueries({ queryKey: xKey }),
  });
}

export const useFinishX = () =>
  useXMutation((body: { code: string; state: string }) => call(finishXAuth, { body }));

export const useDisconnectX = () => useXMutation<void>(() => call(endXAuth, {}));

export const usePostOnX = () =>
  useXMutation((message: string) => call(postReferralToX, { body: { message } }, { timeoutMs: 30_000 }));

/** Result of redeeming the browser's code. */
export type ReferralResult = { kind: 'given'; bonus: string } | { kind: 'refused' };

/** Redeems the browser's code; the key includes whether the address is confirmed. Signing out cancels it. */
export const pendingReferralQuery = (userId: string, isConfirmed: boolean) =>
  queryOptions({
    queryKey: ['referral', 'pending', userId, isConfirmed],
    queryFn: ({ signal }) => redeemPendingCode(userId, signal),
    retry: false,
    gcTime: 0,
  });

/**
 * Redeems and deletes the browser's code, if there is one, and refetches the X state. Keeps a code that waits
 * for address confirmation or couldn't be redeemed.
 */
export async function redeemPendingCode(userId: string, signal: AbortSignal): Promise<ReferralResult | null> {
  const query = { userId };
  const { referralCode } = await call(getPendingReferral, { query }, { timeoutMs: PENDING_MS, signal });
  if (referralCode === null) return null;
  void queryClient.resetQueries({ queryKey: xKey });
  const { success, data } = await call(validateReferral, { query: { referral_code: referralCode } });
  if (data.reason === 'address_not_confirmed') return null;
  await call(deletePendingReferral, { query });
  if (!success) return { kind: 'refused' };
  return data.is_new && data.bonus !== null && data.bonus !== '0'
    ? { kind: 'given', bonus: data.bonus }
    : null;
}
