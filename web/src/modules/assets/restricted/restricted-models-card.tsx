import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Lock, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { restrictedModelsQuery, useDeleteRestrictedModel } from './queries.ts';
import { RestrictedModelDialog } from './restricted-model-dialog.tsx';

/** The restricted models, to be changed and removed. */
export function RestrictedModelsCard() {
  const models = useInfiniteQuery(restrictedModelsQuery);
  return (
    <Card title="Restricted models" flush>
      <QueryView
        query={{ ...models, data: models.data?.pages.flatMap((page) => page.restricted_models) }}
        failed="The restricted models could not be loaded"
        pending={<ListSkeleton rows={2} rowHeight={60} />}
        isEmpty={(all) => all.length === 0}
        empty={
          <EmptyState
            icon={<Lock aria-hidden />}
            title="No restricted models yet"
            description="Everyone can find a restricted model; only those you grant access can use it."
          />
        }
        flush
      >
        {(all) => (
          <ul className="divide-y divide-line">
            {all.map((model) => (
              <ModelLine key={model.id} model={model} />
            ))}
          </ul>
        )}
      </QueryView>
      <Pager pages={models} />
    </Card>
  );
}

function ModelLine({ model }: { model: RestrictedModel }) {
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null);
  const removal = useDeleteRestrictedModel();
  return (
    <li className="flex items-center gap-3 px-5 py-3">
      <div className="min-w-0 flex-1">
        <Link
          to="/model/source/$id/description"
          params={{ id: model.id }}
          className="line-clamp-1 font-medium hover:underline"
        >
          {model.name}
        </Link>
        <span className="line-clamp-1 break-all font-mono text-muted text-xs">{model.id}</span>
      </div>
      {model.is_available ? <Badge tone="good">Files are here</Badge> : <Badge>No files yet</Badge>}
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
    </li>
  );
}
