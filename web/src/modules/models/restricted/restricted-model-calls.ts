import type { CallOf } from '@bakehouse/contract/endpoint';
import * as contract from '@bakehouse/contract/restricted-models';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { notify } from '../../../ui/notify.ts';

const family = ['asset', 'restricted'];
/** Awaited so that the button stays busy until the new state is loaded. */
const untilReadAgain = () => queryClient.invalidateQueries({ queryKey: ['asset'] });

export const restrictedModelQuery = (modelId: string) =>
  endpointQuery([...family, 'model', modelId], contract.getRestrictedModel, { params: { modelId } });

/** Query for all restricted models, paginated. */
export const restrictedModelsQuery = endpointPages(
  [...family, 'models'],
  contract.listRestrictedModels,
  {},
  { rows: 'restricted_models', id: 'id' },
);

/** Query for access requests, paginated, newest first; for operators. */
export const accessRequestsQuery = (state: 'requested' | undefined) =>
  endpointPages(
    [...family, 'requests', state],
    contract.listAccessRequests,
    { query: { state } },
    { rows: 'requests', id: 'request_id' },
  );

export function useRequestAccess(modelId: string) {
  return useMutation({
    mutationFn: (message: string) => call(contract.requestAccess, { params: { modelId }, body: { message } }),
    onSuccess: () => {
      notify.success('Your request was sent');
      return untilReadAgain();
    },
  });
}

type Decided = { request: contract.AccessRequest; decision: 'granted' | 'refused' };

/** Reports the decision itself, because the row leaves the list of pending requests. */
export function useDecideAccess() {
  return useMutation({
    mutationFn: ({ request, decision }: Decided) =>
      call(contract.decideAccessRequest, { params: { requestId: request.request_id }, body: { decision } }),
    onSuccess: (_, { request, decision }) => {
      notify.success(`${request.username} was ${decision} access to ${request.model_name}`);
      return untilReadAgain();
    },
  });
}

export function useSaveRestrictedModel() {
  return useMutation({
    meta: { inPlace: true },
    mutationFn: ({ id, body }: { id: string; body: CallOf<typeof contract.saveRestrictedModel>['body'] }) =>
      call(contract.saveRestrictedModel, { params: { modelId: id }, body }),
    onSuccess: () => refetchQueries(['asset']),
  });
}

export function useDeleteRestrictedModel() {
  return useMutation({
    mutationFn: ({ id }: Pick<contract.RestrictedModel, 'id' | 'name'>) =>
      call(contract.deleteRestrictedModel, { params: { modelId: id } }),
    onSuccess: (_, { name }) => {
      notify.success(`${name} was removed`);
      refetchQueries(['asset']);
    },
  });
}
