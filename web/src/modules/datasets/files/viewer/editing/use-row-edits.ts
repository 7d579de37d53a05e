import type { Asset } from '@bakehouse/contract/assets';
import { type ColumnStatistics, EDITABLE_ROWS_MAX, editRows } from '@bakehouse/contract/data-files';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../../lib/api/api-error.ts';
import { getCredentials } from '../../../../../lib/api/credentials.ts';
import { queryClient } from '../../../../../lib/api/query-client.ts';
import { refetchQueries } from '../../../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../../../lib/mutation/use-mutation.ts';
import { newId } from '../../../../../lib/new-id.ts';
import { readFromTab, writeToTab } from '../../../../../lib/tab-storage.ts';
import { notify } from '../../../../../ui/notify.ts';
import { assetQuery } from '../../../asset-queries.ts';
import { columnsQuery, WHOLE_FILE_MS } from '../viewer-calls.ts';
import { combine, type RowChange, type RowChanges, toEdits } from './row-changes.ts';

/** Unsaved changes, kept across reloads of the tab. */
type Draft = {
  /** The revision that was edited; empty for the newest one. */
  revisionId: string;
  /** Idempotency key of the save; each change renews it. */
  key: string;
  steps: RowChange[];
  undone: RowChange[];
};

export type RowEditor = {
  changes: RowChanges;
  types: ReadonlyMap<string, ColumnStatistics['type']>;
  isCsv: boolean;
  /** The index of the next new row. */
  nextAt: number;
  change: (step: RowChange) => void;
};

export type RowEdits = {
  /** Null if the user cannot edit the rows now. */
  editor: RowEditor | null;
  changes: RowChanges;
  undo: (() => void) | null;
  redo: (() => void) | null;
  discard: () => void;
  save: () => void;
  isSaving: boolean;
  problem: Error | null;
};

type Options = { asset: Asset; path: string; canChange: boolean };

/** Manages unsaved changes of a file's rows, with undo. */
export function useRowEdits({ asset, path, canChange }: Options): RowEdits {
  const assetId = asset.dataset_id;
  const newest = asset.revision_id ?? '';
  const [draft, setDraft] = useDraft(`rows.${assetId}/${path}`);
  const { steps = [], undone = [] } = draft ?? {};
  const changes = combine(steps);
  const saving = useMutation({
    mutationKey: ['asset'],
    meta: { inPlace: true },
    mutationFn: ({ revisionId, key, steps: sent }: Draft) =>
      call(
        editRows,
        {
          params: { id: assetId },
          body: { path, revision_id: revisionId, edits: toEdits(combine(sent)) },
        },
        { idempotencyKey: key, timeoutMs: WHOLE_FILE_MS },
      ),
    onSuccess: async () => {
      // Show the changes until the saved rows replace them.
      await queryClient.invalidateQueries({ queryKey: assetQuery(assetId).queryKey });
      setDraft(null);
      notify.success('Saved as a new version');
      refetchQueries(['asset']);
    },
    onError: async (error) => {
      // The server cannot compare dates and bytes of a Parquet row, so its changes must be made again.
      if (!isStale(error) || !draft || isParquet(path)) return;
      await queryClient.invalidateQueries({ queryKey: assetQuery(assetId).queryKey });
      // Save on the newest revision next time. The server compares each row with what was edited.
      setDraft({ ...draft, revisionId: '', key: newId() });
    },
  });
  const write = (next: Pick<Draft, 'steps' | 'undone'>) => {
    saving.reset();
    const isEmpty = next.steps.length + next.undone.length === 0;
    setDraft(isEmpty ? null : { revisionId: draft?.revisionId ?? newest, key: newId(), ...next });
  };
  const columns = useQuery({ ...columnsQuery({ assetId, revisionId: newest, path }), enabled: false });
  const isEditable = /\.(csv|tsv|jsonl|ndjson|jsonlines|parquet)$/i.test(path);
  const isTooLong = (columns.data?.rows ?? 0) > EDITABLE_ROWS_MAX;
  const last = steps.at(-1);
  const lastUndone = undone.at(-1);
  return {
    editor:
      canChange && isEditable && !isTooLong && !saving.isPending
        ? {
            changes,
            types: new Map(columns.data?.columns.map(({ name, type }) => [name, type])),
            isCsv: /\.[ct]sv$/i.test(path),
            nextAt: Math.min(0, ...[...steps, ...undone].map(({ at }) => at)) - 1,
            change: (step) => write({ steps: [...steps, step], undone: [] }),
          }
        : null,
    changes,
    undo: last ? () => write({ steps: steps.slice(0, -1), undone: [...undone, last] }) : null,
    redo: lastUndone ? () => write({ steps: [...steps, lastUndone], undone: undone.slice(0, -1) }) : null,
    discard: () => write({ steps: [], undone: [] }),
    save: () => draft && saving.mutate({ ...draft, revisionId: draft.revisionId || newest }),
    isSaving: saving.isPending,
    problem: saving.error,
  };
}

/** Returns true for a Parquet file. */
export function isParquet(path: string): boolean {
  return /\.parquet$/i.test(path);
}

/** Returns true if the file has changed since it was edited. */
export function isStale(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 409 && error.param === 'revision_id';
}

function useDraft(name: string) {
  const userId = getCredentials()?.userId ?? null;
  const [draft, setDraft] = useState(() => readFromTab(userId, name) as Draft | null);
  const write = (next: Draft | null) => {
    setDraft(next);
    writeToTab(userId, name, next);
  };
  return [draft, write] as const;
}
