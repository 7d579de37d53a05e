import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { addTrainingPictures } from '@bakehouse/contract/gallery';
import type { Generation } from '@bakehouse/contract/generations';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { notify } from '../../../ui/notify.ts';
import { DatasetTargetFields, useDatasetTarget } from '../../assets/choice/dataset-target.tsx';
import { countPictures } from '../deletion-calls.ts';
import { useAddTrainingPictures } from './reuse-calls.ts';

type Props = { generations: readonly Generation[]; onClose: () => void; onAdded: () => void };
/** Reports the result with a link to the dataset. */
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

/** Returns how many pictures the server will add, and how many edits it will skip. */
function countTaken(generations: readonly Generation[]): { added: number; edits: number } {
  const taken = generations.filter(
    ({ generator }) => generators[generator].makes === 'image' && !editsPictures(generators[generator]),
  );
  return { added: countPictures(taken), edits: generations.length - taken.length };
}

/** Returns why fewer pictures are added than selected. */
function editsSentence(edits: number): string {
  const because = 'because their prompts only describe a change';
  if (edits === 0) return `Edits would be left out, ${because}.`;
  return edits === 1
    ? 'The edit is left out: its prompt only describes a change.'
    : `The ${edits} edits you selected are left out, ${because}.`;
}

/** Chooses the dataset that selected pictures are added to. */
export function TrainingDialog({ generations, onClose, onAdded }: Props) {
  const form = useId();
  const notifyAdded = useNotifyAdded();
  const { chosen, problem, fields } = useDatasetTarget('Training pictures');
  const [submitted, setSubmitted] = useState(false);
  const addition = useAddTrainingPictures();
  const { added, edits } = countTaken(generations);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setSubmitted(true));
    if (problem || addition.isPending) return;
    addition.mutate(
      {
        ids: generations.map(({ id }) => id),
        ...chosen,
      },
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
      title={`Add ${countOf(added, 'picture')} to a dataset`}
      description={`Each picture goes into a dataset with its prompt as the caption. ${editsSentence(edits)}`}
      size="sm"
      footer={
        <>
          <Button onClick={onClose} disabled={addition.isPending}>
            Cancel
          </Button>
          <AddButton form={form} loading={addition.isPending} disabled={added === 0} />
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <DatasetTargetFields
          {...fields}
          error={submitted ? problem : undefined}
          help="An empty dataset, or one with pictures and a metadata.jsonl."
        />
      </form>
    </Dialog>
  );
}

function AddButton(props: { form: string; loading: boolean; disabled: boolean }) {
  return (
    <Button type="submit" variant="primary" {...props}>
      Add pictures
    </Button>
  );
}
