import { createCodes, listCodes, revokeCode } from '@bakehouse/contract/codes';
import { call } from '../../../lib/api/api-client.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

export const codesQuery = endpointPages(['codes'], listCodes, {}, { rows: 'codes', id: 'id' });

const refresh = () => refetchQueries(codesQuery.queryKey);

/** The form's values; the server validates them. */
export type NewCodes = {
  amount: string;
  count: number;
  redemptions_max: number;
  note: string;
  expires_at: string | null;
};

/** Creates codes, which only this response contains. */
export function useCreateCodes() {
  return useMutation({
    mutationFn: ({ idempotencyKey, ...body }: NewCodes & { idempotencyKey: string }) =>
      call(createCodes, { body }, { idempotencyKey }),
    onSuccess: refresh,
  });
}

/** Revokes a code. */
export function useRevokeCode() {
  return useMutation({
    mutationFn: (codeId: string) => call(revokeCode, { params: { codeId } }),
    onSuccess: refresh,
  });
}
