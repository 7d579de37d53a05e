import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useDeleteRestrictedModel } from './restricted-model-calls.ts';
import { RestrictedModelDialog } from './restricted-model-dialog.tsx';
import { RestrictedModelList } from './restricted-model-list.tsx';

/** Operator's list of restricted models, with actions. */
export function RestrictedModelsCard() {
  return (
    <RestrictedModelList
      title="Restricted models"
      description="Everyone can find a restricted model; only those you grant access can use it."
      renderEnd={(model) => <Actions model={model} />}
    />
  );
}

function Actions({ model }: { model: RestrictedModel }) {
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null);
  const removal = useDeleteRestrictedModel();
  return (
    <>
      {model.is_available ? <Badge tone="good">Files available</Badge> : <Badge>No files yet</Badge>}
      <div className="flex">
        <Button
          variant="ghost"
          size="icon-sm"
          aria-label={`Edit ${model.name}`}
          onClick={() => setOpen('edit')}
        >
          <Pencil aria-hidden />
        </Button>
        <Button
          variant="ghost"
          size="icon-sm"
          aria-label={`Remove ${model.name}`}
          onClick={() => setOpen('remove')}
        >
          <Trash2 aria-hidden />
        </Button>
      </div>
      {open === 'edit' && <RestrictedModelDialog model={model} onClose={() => setOpen(null)} />}
      <ConfirmDialog
        open={open === 'remove'}
        onOpenChange={(next) => !next && setOpen(null)}
        title={`Remove ${model.name}?`}
        description="Its access requests are deleted too, and everyone who was granted access loses it. The model with the files stays."
        action="Remove"
        pending={removal.isPending}
        onConfirm={() => removal.mutate(model, { onSettled: () => setOpen(null) })}
      />
    </>
  );
}
