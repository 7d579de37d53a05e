import type { listModels } from '@bakehouse/contract/chat';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { chatModelsQuery } from '../../chat/chat.ts';

const POLL_MS = 5_000;

type Props = {
  /** Called with at least one name. */
  children: (names: string[]) => ReactNode;
};

/** Loads the names of the models that can write text. If there are none, explains how to get one. */
export function TextModels({ children }: Props) {
  const query = useQuery({
    ...chatModelsQuery,
    refetchInterval: ({ state }) => (state.data && namesOf(state.data.data).length === 0 ? POLL_MS : false),
  });
  return (
    <QueryView
      query={query}
      failed="The models could not be loaded"
      pending={<Skeleton className="h-72 w-full rounded-xl" />}
      isEmpty={({ data }) => namesOf(data).length === 0}
      empty={<NoModel />}
    >
      {({ data }) => children(namesOf(data))}
    </QueryView>
  );
}

type Model = ResponseOf<typeof listModels>['data'][number];

function namesOf(models: readonly Model[]): string[] {
  return models.filter(({ task }) => task === 'text').map(({ id }) => id);
}

function NoModel() {
  return (
    <Callout
      title="No model answers yet"
      action={
        <ButtonLink size="sm" to="/my-deployments">
          Deploy a model
        </ButtonLink>
      }
    >
      The starter model will be available once this server has prepared it.
    </Callout>
  );
}
