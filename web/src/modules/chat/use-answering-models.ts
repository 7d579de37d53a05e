import { type Deployment, listVllm } from '@bakehouse/contract/deployments/text';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { useUser } from '../accounts/session.ts';
import { pricesQuery } from '../billing/credit-queries.ts';
import { useMachine } from '../machines/machine-queries.ts';
import { chatModelsQuery } from './chat.ts';
import { canChat } from './chat-tab.tsx';
import { useOpenedConversation } from './conversation-queries.ts';

/** A model that can answer now: a deployment or a starter model. */
export type AnsweringModel = {
  /** Also identifies its conversations: the deployment's id or the starter model's name. */
  id: string;
  name: string;
  title: string;
  pod?: Deployment;
};

/** State in the URL: the model, the conversation, and the model to compare with. */
export type ChatUrlState = { chat?: string; conversation?: string; beside?: string };

const POLL_MS = 5_000;

const podsQuery = (userId: string) =>
  endpointQuery(
    ['deployment', 'list', 'text', userId, 'chat'],
    listVllm,
    { params: { userId }, query: { limit: 100 } },
    { call: { operation: 'fetch deployments' } },
  );

/**
 * Returns the models that can answer (the user's deployments first) and the chosen model. Without a choice in
 * the URL, it is the newest running deployment, otherwise the starter model.
 */
export function useAnsweringModels({ chat, beside, ...wanted }: ChatUrlState) {
  const deployments = useQuery({
    ...podsQuery(useUser().id),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
  const query = useQuery(chatModelsQuery);
  const isRead = [deployments, query, useMachine(), useQuery(pricesQuery)].every(hasAnswered);
  const own = (deployments.data?.pods ?? []).flatMap((pod): AnsweringModel[] =>
    pod.task === 'text' && canChat(pod)
      ? [{ id: pod.pod_id, name: pod.model_name, title: pod.title, pod }]
      : [],
  );
  const starters = (query.data?.data ?? [])
    .filter(({ owned_by, task }) => owned_by === 'bakehouse' && task === 'text')
    .map(({ id }): AnsweringModel => ({ id, name: id, title: id }));
  const models = [...own, ...starters];
  const find = (id: string | null | undefined) => models.find((model) => model.id === id);
  // The chosen model does not change if another becomes available.
  const [opened, setOpened] = useState<string | null>(null);
  const usual = own.find(({ pod }) => pod?.status === 'running') ?? starters[0] ?? own[0];
  const chosen = isRead ? (find(chat) ?? find(opened) ?? usual) : undefined;
  if (chosen && chosen.id !== opened) setOpened(chosen.id);
  const others = models.filter((model) => model !== chosen);
  const second = beside === undefined ? undefined : (others.find(({ id }) => id === beside) ?? others[0]);
  const conversation = chosen?.id === chat ? wanted.conversation : undefined;
  const isAlone = second === undefined;
  const first = useFirstReading(isRead, isAlone ? chosen : undefined, conversation);
  return { query, models, chosen, conversation, second, isReady: isRead && hasAnswered(first) };
}

type Reading = { isPending: boolean; failureCount: number };

/** Returns true once a query has succeeded, or its first attempt has failed. */
function hasAnswered({ isPending, failureCount }: Reading): boolean {
  return !isPending || failureCount > 0;
}

/** First read of the conversation with a model; done if there is no model. */
function useFirstReading(
  isKnown: boolean,
  model: AnsweringModel | undefined,
  wanted: string | undefined,
): Reading {
  const { id, finding, query } = useOpenedConversation(isKnown ? model?.id : undefined, wanted);
  if (isKnown && !model) return { isPending: false, failureCount: 0 };
  return id === undefined ? finding : query;
}
