import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { PagedList } from '../../../ui/paged-list.tsx';
import { restrictedModelsQuery } from './restricted-model-calls.ts';

type Props = {
  /** Explains restricted models if there are none. */
  description: string;
  /** Shown next to each model. */
  beside: (model: RestrictedModel) => ReactNode;
};

/** All restricted models with links to their pages. */
export function RestrictedModelList({ description, beside }: Props) {
  const models = useInfiniteQuery(restrictedModelsQuery);
  return (
    <PagedList
      query={models}
      rows={(page) => page.restricted_models}
      rowHeight={60}
      skeletonRows={2}
      failed="The restricted models could not be loaded"
      empty={
        <EmptyState icon={<Lock aria-hidden />} title="No restricted models yet" description={description} />
      }
    >
      {(all) => (
        <ul className="divide-y divide-line">
          {all.map((model) => (
            <li key={model.id} className="flex items-center gap-3 px-5 py-3">
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
              {beside(model)}
            </li>
          ))}
        </ul>
      )}
    </PagedList>
  );
}
