import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { ResourceList } from '../../../ui/resource/resource-list.tsx';
import { restrictedModelsQuery } from './restricted-model-calls.ts';

type Props = {
  title?: string;
  /** Explains restricted models if there are none. */
  description: string;
  /** Shown next to each model. */
  renderEnd: (model: RestrictedModel) => ReactNode;
};

/** All restricted models with links to their pages. */
export function RestrictedModelList({ title, description, renderEnd }: Props) {
  return (
    <ResourceList
      title={title}
      query={useInfiniteQuery(restrictedModelsQuery)}
      rows={(page) => page.restricted_models}
      rowKey={(model) => model.id}
      rowHeight={60}
      skeletonRows={2}
      failed="The restricted models could not be loaded"
      empty={{ icon: <Lock aria-hidden />, title: 'No restricted models yet', description }}
      item={(model) => (
        <div className="flex items-center gap-3 px-5 py-3">
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
          {renderEnd(model)}
        </div>
      )}
    />
  );
}
