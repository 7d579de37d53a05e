import type { Draft, DraftRow } from '@bakehouse/contract/drafts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Save, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { CheckboxBox } from '../../../ui/checkbox-box.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { FilterField } from '../../../ui/resource/filter-bar.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { rowsQuery, useDeleteRows } from '../draft-calls.ts';
import { RowDialog } from './row-dialog.tsx';
import { SaveDialog } from './save-dialog.tsx';

const route = getRouteApi('/app/drafts/$id');

/** The rows of a draft: edit, delete, or save as a dataset. */
export function RowsCard({ draft }: { draft: Draft }) {
  const { draft_id: id } = draft;
  const { document } = route.useSearch();
  const query = useInfiniteQuery(rowsQuery(id, document));
  const rows = query.data?.pages.flatMap((page) => page.rows) ?? [];
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<string | null>(null);
  const [asks, setAsks] = useState<'save' | 'delete' | null>(null);
  const selected = rows.filter((row) => chosen.has(row.row_id) && row.saved_in === null);
  const row = rows.find(({ row_id }) => row_id === opened);
  const unsaved = draft.rows - draft.rows_saved;
  return (
    <>
      <ResourceTable
        title="Rows"
        description={
          unsaved < draft.rows
            ? `${countOf(draft.rows, 'row')}, ${draft.rows_saved} saved`
            : `${countOf(draft.rows, 'row')}. Click a row to edit it.`
        }
        actions={
          <RowActions
            selected={selected.length}
            unsaved={unsaved}
            onDelete={() => setAsks('delete')}
            onSave={() => setAsks('save')}
          />
        }
        filter={<DocumentFilter documents={draft.documents} />}
        label="Rows"
        query={query}
        rows={(page) => page.rows}
        failed="The rows could not be loaded"
        rowHeight={64}
        empty={{ title: 'No rows from this document', compact: true }}
        rowKey={({ row_id }) => row_id}
        columns={columnsFor({ rows, chosen, setChosen, open: setOpened })}
        onRowClick={({ row_id }) => setOpened(row_id)}
      />
      {row && <RowDialog key={row.row_id} draftId={id} row={row} onClose={() => setOpened(null)} />}
      {asks === 'save' && (
        <SaveDialog draft={draft} rows={selected.map(({ row_id }) => row_id)} onClose={() => setAsks(null)} />
      )}
      {asks === 'delete' && <DeleteDialog draftId={id} rows={selected} onClose={() => setAsks(null)} />}
    </>
  );
}

/** Filters rows by document; renders nothing if there is only one. */
function DocumentFilter({ documents }: Pick<Draft, 'documents'>) {
  if (documents.length < 2) return null;
  const options = documents.map(({ document_id, name }) => ({ value: document_id, label: name }));
  return (
    <div className="px-5 pb-3">
      <FilterField
        name="document"
        label="Rows from"
        wide
        options={[{ value: 'all', label: 'All documents' }, ...options]}
      />
    </div>
  );
}

type ActionsProps = { selected: number; unsaved: number; onDelete: () => void; onSave: () => void };

function RowActions({ selected, unsaved, onDelete, onSave }: ActionsProps) {
  return (
    <>
      {selected > 0 && (
        <Button onClick={onDelete}>
          <Trash2 aria-hidden />
          Delete {selected}
        </Button>
      )}
      {unsaved > 0 && (
        <Button variant="primary" onClick={onSave}>
          <Save aria-hidden />
          {selected > 0 ? `Save ${selected} as dataset` : 'Save as dataset'}
        </Button>
      )}
    </>
  );
}

type Choice = {
  rows: readonly DraftRow[];
  chosen: ReadonlySet<string>;
  setChosen: (chosen: ReadonlySet<string>) => void;
  open: (rowId: string) => void;
};

function columnsFor({ rows, chosen, setChosen, open }: Choice): Column<DraftRow>[] {
  const unsaved = rows.filter(({ saved_in }) => saved_in === null);
  const isAll = unsaved.length > 0 && unsaved.every(({ row_id }) => chosen.has(row_id));
  const toggle = (rowId: string, isChosen: boolean) =>
    setChosen(new Set(isChosen ? [...chosen, rowId] : [...chosen].filter((one) => one !== rowId)));
  return [
    {
      id: 'chosen',
      header: (
        <CheckboxBox
          aria-label="Select all loaded rows"
          checked={isAll}
          disabled={unsaved.length === 0}
          onCheckedChange={(all) => setChosen(new Set(all ? unsaved.map(({ row_id }) => row_id) : []))}
        />
      ),
      cell: ({ row_id, question, saved_in }) => (
        <CheckboxBox
          aria-label={`Select ${question}`}
          checked={chosen.has(row_id) && saved_in === null}
          disabled={saved_in !== null}
          onCheckedChange={(isChosen) => toggle(row_id, isChosen)}
        />
      ),
      width: '3rem',
      control: true,
    },
    {
      id: 'row',
      header: 'Question and answer',
      cell: ({ row_id, question, answer, source, saved_in }) => (
        <div className="min-w-0 py-1">
          <button
            type="button"
            onClick={() => open(row_id)}
            className="rounded text-left font-medium hover:underline [overflow-wrap:anywhere]"
          >
            {question}
          </button>
          <p className="line-clamp-3 text-muted [overflow-wrap:anywhere]">{answer}</p>
          <p className="mt-0.5 text-muted text-xs md:hidden [overflow-wrap:anywhere]">{source}</p>
          {saved_in !== null && <Badge tone="good">Saved</Badge>}
        </div>
      ),
    },
    {
      id: 'source',
      header: 'Source',
      cell: ({ source }) => <span className="text-muted [overflow-wrap:anywhere]">{source}</span>,
      width: '16rem',
      hideBelow: 'md',
    },
  ];
}

type DeleteProps = { draftId: string; rows: readonly DraftRow[]; onClose: () => void };

function DeleteDialog({ draftId, rows, onClose }: DeleteProps) {
  const deletion = useDeleteRows(draftId);
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${countOf(rows.length, 'row')}?`}
      description="They will be permanently deleted from the draft."
      action="Delete"
      pending={deletion.isPending}
      onConfirm={() =>
        deletion.mutate(
          rows.map(({ row_id }) => row_id),
          { onSettled: onClose },
        )
      }
    />
  );
}
