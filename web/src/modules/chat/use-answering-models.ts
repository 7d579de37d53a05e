import { type Deployment, listVllm } from '@bakehouse/contract/deployments/text';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { useUser } from '../accounts/session.ts';
import { chatModelsQuery } from './chat.ts';
import { canChat } from './chat-tab.tsx';
import type { ChatSearch } from './routes.ts';

/** A model that can answer now: a deployment or a starter model. */
export type AnsweringModel = {
  /** Also identifies its conversations: the deployment's id or the starter model's name. */
  id: string;
  name: string;
  title: string;
  pod?: Deployment;
};

const POLL_MS = 5_000;

/** Reads the user's deployments that have not ended. */
const podsQuery = (userId: string) =>
  endpointQuery(
    ['deployment', 'list', 'text', userId, 'chat'],
    listVllm,
    { params: { userId }, query: { limit: 100 } },
    { call: { operation: 'fetch deployments' } },
  );

/**
 * Returns the models that can answer (the user's deployments first), the chosen model, and the one to compare
 * it with. Without a choice in the URL, it is the newest running deployment, otherwise the starter model. No
 * other model replaces one of a conversation, because the user would pay for it unasked: `ended` is such a model.
 */
export function useAnsweringModels({ model, compare, conversation }: ChatSearch) {
  const deployments = useQuery({
    ...podsQuery(useUser().id),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
  const query = useQuery(chatModelsQuery);
  const own = (deployments.data?.pods ?? []).flatMap((pod): AnsweringModel[] =>
    pod.task === 'text' && canChat(pod)
      ? [{ id: pod.pod_id, name: pod.model_name, title: pod.title, pod }]
      : [],
  );
  const starters = (query.data?.data ?? [])
    .filter(({ owned_by, task }) => owned_by === 'bakehouse' && task === 'text')
    .map(({ id }): AnsweringModel => ({ id, name: id, title: id }));
  const models = [...own, ...starters];
  const find = (id: string | null | undefined) => models.find((one) => one.id === id);
  // The chosen model does not change if another becomes available.
  const [opened, setOpened] = useState<string | null>(null);
  const usual = own.find(({ pod }) => pod?.status === 'running') ?? starters[0] ?? own[0];
  const isReady = !deployments.isPending || deployments.failureCount > 0;
  const chosen =
    isReady && query.data
      ? (find(model) ?? (conversation ? find(compare) : undefined) ?? find(opened) ?? usual)
      : undefined;
  if (chosen && chosen.id !== opened) setOpened(chosen.id);
  const others = models.filter((one) => one !== chosen);
  const second =
    compare === undefined
      ? undefined
      : (others.find(({ id }) => id === compare) ?? (conversation ? undefined : others[0]));
  const ended = conversation && [model, compare].find((id) => id !== undefined && !find(id));
  return { query, models, chosen, second, ended, isReady, areKnown: deployments.data !== undefined };
}
