import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { addTrainingPictures } from '@bakehouse/contract/gallery';
import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { Segmented } from '../../../ui/segmented.tsx';
import { nameProblem } from '../../../ui/text-problem.ts';
import { AssetField } from '../../assets/choice/api.ts';
import { useAddTrainingPictures } from './reuse-calls.ts';

type Props = { ids: readonly string[]; onClose: () => void; onAdded: () => void };
type Target = 'new' | 'existing';

const targets = [
  { value: 'new', label: 'New dataset' },
  { value: 'existing', label: 'Existing dataset' },
] as const;

/** Says what has become of the dataset, with the way there. */
function useNotifyAdded() {
  const navigate = useNavigate();
  return ({ dataset_id: id, title, added, present, left_out }: ResponseOf<typeof addTrainingPictures>) => {
    const rest = [
      ...(added > 0 && present > 0 ? [`${present} ${present === 1 ? 'was' : 'were'} already there.`] : []),
      ...(left_out > 0 ? [`${countOf(left_out, 'edit')} left out.`] : []),
    ];
    notify.success(
      added === 0
        ? `${left_out > 0 ? 'The others' : 'All of them'} are already in “${title}”`
        : `${countOf(added, 'picture')} added to “${title}”`,
      {
        ...(rest.length > 0 && { description: rest.join(' ') }),
        action: {
          label: 'Open the dataset',
          onClick: () => void navigate({ to: '/dataset/$id/description', params: { id } }),
        },
      },
    );
  };
}

/** Asks into which dataset the chosen pictures are put. */
export function TrainingDialog({ ids, onClose, onAdded }: Props) {
  const form = useId();
  const notifyAdded = useNotifyAdded();
  const [target, setTarget] = useState<Target>('new');
  const [title, setTitle] = useState('Training pictures');
  const [datasetId, setDatasetId] = useState<string | null>(null);
  const [submitted, setSubmitted] = useState(false);
  const addition = useAddTrainingPictures();
  const problem =
    target === 'new' ? nameProblem(title, NAME_LENGTH_MAX) : datasetId === null && 'Choose a dataset';
  const error = (submitted && problem) || undefined;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setSubmitted(true));
    if (problem || addition.isPending) return;
    addition.mutate(
      { ids, title: title.trim(), datasetId: target === 'existing' ? datasetId : null },
      {
        onSuccess: (answer) => {
          notifyAdded(answer);
          onAdded();
        },
      },
    );
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !addition.isPending && onClose()}
      title={`Add ${countOf(ids.length, 'picture')} to a dataset`}
      description="Each picture goes into a dataset with its prompt as the caption, in the layout that image trainers read. Edits are left out, because their prompts only describe a change."
      size="sm"
      footer={
        <>
          <Button onClick={onClose} disabled={addition.isPending}>
            Cancel
          </Button>
          <Button type="submit" form={form} variant="primary" loading={addition.isPending}>
            Add pictures
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <Segmented label="Dataset" value={target} onChange={setTarget} options={targets} />
        {target === 'new' ? (
          <Field label="Name" error={error}>
            <Input value={title} onChange={(event) => setTitle(event.target.value)} />
          </Field>
        ) : (
          <AssetField
            types="RAW"
            label="Dataset"
            failed="Your datasets could not be loaded"
            value={datasetId}
            onChange={setDatasetId}
            error={error}
            help="An empty dataset, or one with pictures and a metadata.jsonl."
          />
        )}
      </form>
    </Dialog>
  );
}
