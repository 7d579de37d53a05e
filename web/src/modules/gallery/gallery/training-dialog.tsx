import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { addTrainingPictures } from '@bakehouse/contract/gallery';
import type { Generation } from '@bakehouse/contract/generations';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useNavigate } from '@tanstack/react-router';
import { countOf } from '../../../lib/format/count-of.ts';
import { notify } from '../../../ui/notify.ts';
import { DatasetDialog } from '../../datasets/choice/dataset-dialog.tsx';
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
  const notifyAdded = useNotifyAdded();
  const addition = useAddTrainingPictures();
  const { added, edits } = countTaken(generations);
  return (
    <DatasetDialog
      title={`Add ${countOf(added, 'picture')} to a dataset`}
      description={`Each picture goes into a dataset with its prompt as the caption. ${editsSentence(edits)}`}
      size="sm"
      action="Add pictures"
      disabled={added === 0}
      pending={addition.isPending}
      name="Training pictures"
      help="An empty dataset, or one with pictures and a metadata.jsonl."
      onSave={(target) =>
        addition.mutate(
          { ids: generations.map(({ id }) => id), ...target },
          {
            onSuccess: (answer) => {
              notifyAdded(answer);
              onAdded();
            },
          },
        )
      }
      onClose={onClose}
    />
  );
}
