import type { Generation } from '@bakehouse/contract/generations';
import { countOf } from '../../../lib/format/count-of.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { countPictures, useDeleteGenerations } from '../deletion-calls.ts';

type Props = { generations: readonly Generation[]; onClose: () => void };

/** Asks once before all that are chosen are deleted. */
export function DeleteDialog({ generations, onClose }: Props) {
  const deletion = useDeleteGenerations();
  const count = countPictures(generations);
  const one = count === 1;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${countOf(count, 'picture')} and ${one ? 'its' : 'their'} settings?`}
      description={`${one ? 'It' : 'They'} will be permanently deleted. What ${one ? 'it' : 'they'} cost stays in your transactions.`}
      action="Delete"
      pending={deletion.isPending}
      // Where all are deleted the dialog goes with them, and only the promise still tells of it.
      onConfirm={() => void deletion.mutateAsync(generations).finally(onClose)}
    />
  );
}
