import { redeemCode } from '@bakehouse/contract/codes';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** Redeems a code. */
export function useRedeemCode(userId: string) {
  return useMutation({
    meta: { inPlace: isCodeError },
    mutationFn: ({ code, idempotencyKey }: { code: string; idempotencyKey: string }) =>
      call(redeemCode, { body: { user_id: userId, code } }, { idempotencyKey }),
    onSuccess: () => refetchQueries(['balance'], ['transaction']),
  });
}

/** True if the error is about the code, which the form shows below its field. */
export function isCodeError(error: unknown): error is ApiError {
  return error instanceof ApiError && error.param === 'code';
}
