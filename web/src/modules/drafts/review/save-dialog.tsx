import { DOCUMENTS_FILE, type Draft, saveDraftRows } from '@bakehouse/contract/drafts';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { call } from '../../../lib/api/api-client.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/session.ts';
import { createDataset } from '../../assets/asset-calls.ts';
import { DatasetTargetFields, useDatasetTarget } from '../../assets/choice/dataset-target.tsx';

/** `rows`: the selected rows; empty for all unsaved ones. */
type Props = { draft: Draft; rows: string[]; onClose: () => void };

/** Chooses the dataset to save the rows in. */
export function SaveDialog({ draft, rows, onClose }: Props) {
  const form = useId();
  const count = rows.length > 0 ? rows.length : draft.rows - draft.rows_saved;
  const { chosen, problem, fields } = useDatasetTarget(nameOf(draft));
  const [submitted, setSubmitted] = useState(false);
  const save = useSaveRows(draft.draft_id);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setSubmitted(true));
    if (problem || save.isPending) return;
    save.mutate({ ...chosen, rows }, { onSuccess: onClose });
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !save.isPending && onClose()}
      title="Save as dataset"
      description={`${countOf(count, 'row')}, each with its question, its answer and its source.`}
      size="sm"
      footer={
        <>
          <Button onClick={onClose} disabled={save.isPending}>
            Cancel
          </Button>
          <Button type="submit" form={form} variant="primary" loading={save.isPending}>
            {`Save ${countOf(count, 'row')}`}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <DatasetTargetFields
          {...fields}
          error={submitted ? problem : undefined}
          help={`The rows are added to the end of its ${DOCUMENTS_FILE}.`}
        />
      </form>
    </Dialog>
  );
}

/** Returns the name of the first document without its extension. */
function nameOf({ documents: [first] }: Draft): string {
  return first?.name.replace(/\.[^.]+$/, '') || 'Rows from documents';
}

type Wanted = ReturnType<typeof useDatasetTarget>['chosen'] & { rows: string[] };

function useSaveRows(draftId: string) {
  const userId = useUser().id;
  const navigate = useNavigate();
  const [datasets, saves] = [
    useIdempotencyKeys(`draft-dataset-${draftId}`),
    useIdempotencyKeys('draft-rows'),
  ];
  return useMutation({
    mutationFn: async ({ title, datasetId, rows }: Wanted) => {
      // A retry reuses the idempotency keys, so it creates no second dataset or rows.
      const dataset = { title, category: '', tags: [] };
      const id =
        datasetId ??
        (await createDataset({ ...dataset, userId, idempotencyKey: datasets.keyFor({ title, rows }) }));
      const input = {
        params: { draft_id: draftId },
        body: { asset_id: id, ...(rows.length > 0 && { row_ids: rows }) },
      };
      const { saved } = await call(saveDraftRows, input, { idempotencyKey: saves.keyFor(input) });
      datasets.renew({ title, rows });
      saves.renew(input);
      return { id, saved };
    },
    onSuccess: ({ id, saved }) => {
      refetchQueries(['asset'], ['draft']);
      notify.success(`${countOf(saved, 'row')} ${saved === 1 ? 'was' : 'were'} saved`, {
        action: {
          label: 'Open the dataset',
          onClick: () => void navigate({ to: '/dataset/$id/description', params: { id } }),
        },
      });
    },
    meta: { title: 'The rows could not be saved' },
  });
}
