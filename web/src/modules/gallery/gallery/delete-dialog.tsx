import type { Generation } from '@bakehouse/contract/generations';
import { countOf } from '../../../lib/format/count-of.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { countPictures, useDeleteGenerations } from '../deletion-calls.ts';

type Props = { generations: readonly Generation[]; onClose: () => void };

/** Confirms the deletion of all selected pictures. */
export function DeleteDialog({ generations, onClose }: Props) {
  const deletion = useDeleteGenerations();
  const count = countPictures(generations);
  const one = count === 1;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${countOf(count, 'picture')} and ${one ? 'its' : 'their'} settings?`}
      description={`${one ? 'It' : 'They'} will be permanently deleted. Your transactions keep the cost.`}
      action="Delete"
      pending={deletion.isPending}
      // If all are deleted, this component unmounts, so only the promise can report it.
      onConfirm={() => void deletion.mutateAsync(generations).finally(onClose)}
    />
  );
}
