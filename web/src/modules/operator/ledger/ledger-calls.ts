import {
  type Account,
  chargeBackPayment,
  getLedger,
  grantCredits,
  listAccounts,
} from '@bakehouse/contract/credits';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** A check takes seconds, but the first check of many transfers takes longer. */
const PROOF_POLL_MS = 3_000;

export const ledgerQuery = endpointQuery(
  ['ledger'],
  getLedger,
  {},
  { staleTime: 0, call: { timeoutMs: 30_000 } },
);

/** The ledger and its last proof. Polled while a proof is being made. */
export function useLedger() {
  return useQuery({
    ...ledgerQuery,
    refetchInterval: ({ state: { data } }) => (data?.is_being_proved ? PROOF_POLL_MS : false),
  });
}

/** An operator's booking: user id or email address, and the displayed name. */
type Booking = {
  user: string;
  username: string;
  amount: string;
  description?: string;
  idempotencyKey: string;
};

const booked = {
  meta: { inPlace: isUnknownUser },
  onSuccess: () => refetchQueries(['ledger'], ['balance'], ['transaction']),
};

/** Grants credits to a user. */
export function useGrantCredits() {
  return useMutation({
    ...booked,
    mutationFn: ({ user, username: _, idempotencyKey, ...body }: Booking) =>
      call(grantCredits, { body: { recipient_id: user, ...body } }, { idempotencyKey }),
  });
}

/** Charges a payment back to a user. */
export function useChargeBack() {
  return useMutation({
    ...booked,
    mutationFn: ({ user, username: _, idempotencyKey, ...body }: Booking) =>
      call(chargeBackPayment, { body: { payer_id: user, ...body } }, { idempotencyKey }),
  });
}

/** Looks up an account by username, email address or id. Fails like the booking if there is none. */
export function useFindAccount() {
  return useMutation({
    meta: { inPlace: isUnknownUser },
    mutationFn: async (user: string): Promise<Account> => {
      const { accounts } = await call(listAccounts, { query: { user } });
      if (accounts[0]) return accounts[0];
      throw new ApiError('User not found. Please check the username.', {
        status: 404,
        code: 'not_found',
      });
    },
  });
}

/** True if no user has the typed name or address, which the form shows below its field. */
export function isUnknownUser(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'not_found';
}
