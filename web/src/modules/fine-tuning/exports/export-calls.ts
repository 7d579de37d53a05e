import { type ExportFormat, listExports, startExport } from '@bakehouse/contract/exports';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** Export formats of a fine-tune, with their prices and why some are unavailable. */
export const exportsQuery = (id: string) =>
  endpointQuery(['asset', 'exports', id], listExports, { params: { id } });

type Chosen = { format: ExportFormat; cost_max: string };

/** Starts an export at the price shown. */
export function useStartExport(id: string) {
  const keys = useIdempotencyKeys('export');
  return useMutation({
    mutationFn: (body: Chosen) =>
      call(
        startExport,
        { params: { id }, body },
        { idempotencyKey: keys.keyFor({ id, format: body.format }) },
      ),
    onSuccess: (_, { format }) => {
      keys.renew({ id, format });
      refetchQueries(['run'], ['asset']);
    },
    // The price may have changed.
    onError: () => refetchQueries(['asset', 'exports', id]),
    // The dialog shows the error.
    meta: { product: 'Fine-tune', inPlace: true },
  });
}
