import { vllmStatus } from '@bakehouse/contract/deployments/text';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { chatWith } from './chat-tab.tsx';
import { ShownConversation } from './playground.tsx';

type Props = { id: string; model: string; leading?: ReactNode; action?: ReactNode };

/** A read-only conversation with a model that does not answer now, such as an ended deployment. */
export function EndedChat({ id, model, leading, action }: Props) {
  const query = useQuery(
    endpointQuery(['deployment', 'one', model, 'chat'], vllmStatus, { params: { podId: model } }),
  );
  const page = { about: '', suggestions: [] };
  const gone = { model, modelName: model, device: undefined, closed: 'This model does not answer here.' };
  return (
    <section className="flex min-h-0 min-w-0 flex-1 flex-col" aria-label="Chat">
      <div className="flex min-h-13 items-center gap-2 px-4 py-2">
        {leading}
        <h2 className="min-w-0 truncate font-medium">{query.data?.title ?? model}</h2>
        <div className="ml-auto">{action}</div>
      </div>
      <QueryView
        query={query}
        failed="This deployment cannot be shown"
        pending={<Skeleton className="mx-4 flex-1" />}
        missing={<ShownConversation {...{ ...gone, id, page }} />}
      >
        {(pod) => <ShownConversation {...{ ...chatWith(pod), id, page }} />}
      </QueryView>
    </section>
  );
}
