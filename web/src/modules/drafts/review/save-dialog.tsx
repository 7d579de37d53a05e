import { DOCUMENTS_FILE, type Draft, saveDraftRows } from '@bakehouse/contract/drafts';
import { call } from '../../../lib/api/api-client.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { DatasetDialog, useSaveToDataset } from '../../datasets/choice/dataset-dialog.tsx';

/** `rows`: the selected rows; empty for all unsaved ones. */
type Props = { draft: Draft; rows: string[]; onClose: () => void };

/** Chooses the dataset to save the rows in. */
export function SaveDialog({ draft, rows, onClose }: Props) {
  const count = rows.length > 0 ? rows.length : draft.rows - draft.rows_saved;
  const save = useSaveToDataset({
    keys: [`draft-dataset-${draft.draft_id}`, `draft-rows-${draft.draft_id}`],
    save: async (id, chosen: string[], idempotencyKey) => {
      const body = { asset_id: id, ...(chosen.length > 0 && { row_ids: chosen }) };
      const params = { draft_id: draft.draft_id };
      return (await call(saveDraftRows, { params, body }, { idempotencyKey })).saved;
    },
    success: (saved) => `${countOf(saved, 'row')} ${saved === 1 ? 'was' : 'were'} saved`,
    failure: 'The rows could not be saved',
  });
  return (
    <DatasetDialog
      title="Save as dataset"
      description={`${countOf(count, 'row')}, each with its question, its answer and its source.`}
      size="sm"
      action={`Save ${countOf(count, 'row')}`}
      pending={save.isPending}
      name={nameOf(draft)}
      help={`The rows are added to the end of its ${DOCUMENTS_FILE}.`}
      onSave={(target) => save.mutate({ ...target, rows }, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

/** Returns the name of the first document without its extension. */
function nameOf({ documents: [first] }: Draft): string {
  return first?.name.replace(/\.[^.]+$/, '') || 'Rows from documents';
}
