import * as contract from '@bakehouse/contract/drafts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { endpointPages } from '../../lib/live/paged-query.ts';
import { refetchQueries } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { expectEnd } from '../../ui/long-work.ts';
import { workId } from './draft-sentences.ts';

const POLL_MS = 3_000;
/** The first request for a starter model has to start its server. */
const QUOTE_TIMEOUT_MS = 60_000;
const PAGE_LENGTH = 50;

export const draftsQuery = endpointQuery(['draft', 'list'], contract.listDrafts);

export function useDraft(id: string) {
  return useQuery({
    ...endpointQuery(['draft', 'one', id], contract.getDraft, { params: { draft_id: id } }),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
}

/** The maximum cost of a start; without settings, of continuing. */
export const quoteQuery = (id: string, settings: contract.DraftSettings | undefined) =>
  endpointQuery(
    ['draft', 'quote', id, settings ?? null],
    contract.quoteDraft,
    { params: { draft_id: id }, body: { settings } },
    { retry: false, call: { timeoutMs: QUOTE_TIMEOUT_MS } },
  );

export const rowsQuery = (id: string, documentId: string | undefined) =>
  endpointPages(
    ['draft', 'rows', id, documentId ?? null],
    contract.listDraftRows,
    { params: { draft_id: id }, query: { document_id: documentId, limit: PAGE_LENGTH } },
    { rows: 'rows', id: 'row_id', newestFirst: false },
  );

export const chunkQuery = (id: string, number: number) =>
  endpointQuery(['draft-chunk', id, number], contract.getChunk, {
    params: { draft_id: id, number },
  });

export function useCreateDraft() {
  return useMutation({
    mutationFn: () => call(contract.createDraft, {}),
    onSuccess: () => refetchQueries(['draft', 'list']),
    meta: { title: 'The draft could not be created' },
  });
}

export function useDeleteDraft() {
  return useMutation({
    mutationFn: (id: string) => call(contract.deleteDraft, { params: { draft_id: id } }),
    onSuccess: () => refetchQueries(['draft', 'list']),
    meta: { title: 'The draft could not be deleted' },
  });
}

export function useRemoveDocument(id: string) {
  return useMutation({
    mutationFn: (documentId: string) =>
      call(contract.removeDocument, { params: { draft_id: id, document_id: documentId } }),
    onSuccess: () => refetchQueries(['draft']),
    meta: { title: 'The document could not be removed' },
  });
}

/** Starts a draft, or without settings continues it. Announces its end on any page. */
export function useStartDraft(id: string) {
  const keys = useIdempotencyKeys(`start-draft-${id}`);
  return useMutation({
    mutationFn: (settings: contract.DraftSettings | undefined) =>
      call(
        contract.startDraft,
        { params: { draft_id: id }, body: { settings } },
        { idempotencyKey: keys.keyFor(settings ?? null), timeoutMs: QUOTE_TIMEOUT_MS },
      ),
    onSuccess: (_draft, settings) => {
      keys.renew(settings ?? null);
      expectEnd(workId(id));
      refetchQueries(['draft']);
    },
    meta: { title: 'The draft could not be started' },
  });
}

export function useCancelDraft() {
  return useMutation({
    mutationFn: (id: string) => call(contract.cancelDraft, { params: { draft_id: id } }),
    onSuccess: () => refetchQueries(['draft']),
    meta: { title: 'The draft could not be cancelled' },
  });
}

export function useChangeRow(id: string) {
  return useMutation({
    mutationFn: ({ rowId, ...body }: { rowId: string; question: string; answer: string }) =>
      call(contract.changeDraftRow, { params: { draft_id: id, row_id: rowId }, body }),
    onSuccess: () => refetchQueries(['draft', 'rows', id]),
    meta: { title: 'The row could not be saved' },
  });
}

export function useDeleteRows(id: string) {
  return useMutation({
    mutationFn: (rowIds: string[]) =>
      call(contract.deleteDraftRows, { params: { draft_id: id }, body: { row_ids: rowIds } }),
    onSuccess: () => refetchQueries(['draft']),
    meta: { title: 'The rows could not be deleted' },
  });
}
