import type { CallOf } from '@bakehouse/contract/endpoint';
import * as contract from '@bakehouse/contract/restricted-models';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { pagedQuery } from '../../../lib/live/paged-query.ts';
import { readAgain } from '../../../lib/mutation/read-again.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { notify } from '../../../ui/notify.ts';

const family = ['asset', 'restricted'];
/** For what offers itself until its new state is read: it stays busy for so long. */
const untilReadAgain = () => queryClient.invalidateQueries({ queryKey: ['asset'] });

export const restrictedModelQuery = (modelId: string) =>
  queryOptions({
    queryKey: [...family, 'model', modelId],
    queryFn: ({ signal }) =>
      call(
        contract.getRestrictedModel,
        { params: { modelId } },
        { signal, operation: 'fetch the restricted model' },
      ),
  });

/** All restricted models page by page. */
export const restrictedModelsQuery = pagedQuery({
  queryKey: [...family, 'models'],
  rows: 'restricted_models',
  id: 'id',
  read: (cursor, signal) =>
    call(
      contract.listRestrictedModels,
      { query: { cursor } },
      { signal, operation: 'fetch the restricted models' },
    ),
});

/** Requests for access page by page, newest first; for operators. */
export const accessRequestsQuery = (state: 'requested' | undefined) =>
  pagedQuery({
    queryKey: [...family, 'requests', state],
    rows: 'requests',
    id: 'request_id',
    read: (cursor, signal) =>
      call(
        contract.listAccessRequests,
        { query: { state, cursor } },
        { signal, operation: 'fetch the access requests' },
      ),
  });

export function useRequestAccess(modelId: string) {
  return useMutation({
    mutationFn: (message: string) =>
      call(
        contract.requestAccess,
        { params: { modelId }, body: { message } },
        { operation: 'request access' },
      ),
    onSuccess: () => {
      notify.success('Your request was sent');
      return untilReadAgain();
    },
  });
}

type Decided = { request: contract.AccessRequest; decision: 'granted' | 'refused' };

/** What was decided is said here: the row leaves the list of those who wait, and could not. */
export function useDecideAccess() {
  return useMutation({
    mutationFn: ({ request, decision }: Decided) =>
      call(
        contract.decideAccessRequest,
        { params: { requestId: request.request_id }, body: { decision } },
        { operation: 'save the decision' },
      ),
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
      call(
        contract.saveRestrictedModel,
        { params: { modelId: id }, body },
        { operation: 'save the restricted model' },
      ),
    onSuccess: () => readAgain(['asset']),
  });
}

export function useDeleteRestrictedModel() {
  return useMutation({
    mutationFn: ({ id }: Pick<contract.RestrictedModel, 'id' | 'name'>) =>
      call(
        contract.deleteRestrictedModel,
        { params: { modelId: id } },
        { operation: 'remove the restricted model' },
      ),
    onSuccess: (_, { name }) => {
      notify.success(`${name} was removed`);
      readAgain(['asset']);
    },
  });
}
