import { getConversation, listConversations } from '@bakehouse/contract/conversations';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { newUuid } from '../../lib/new-id.ts';
import { readFromTab, writeToTab } from '../../lib/tab-storage.ts';
import { useUser } from '../accounts/session.ts';

export type ReadConversation = ResponseOf<typeof getConversation>;

/** Reads one of the user's saved conversations with a model. */
export const conversationQuery = (userId: string, model: string, id: string) =>
  endpointQuery(
    ['conversation', 'one', id, model, userId],
    getConversation,
    { query: { model, id } },
    { staleTime: 0 },
  );

/** Lists the user's conversations with one model or all, without their turns. */
export const conversationsQuery = (userId: string, model?: string) =>
  endpointQuery(
    ['conversation', 'list', model, userId],
    listConversations,
    { query: { model } },
    { staleTime: 0 },
  );

/**
 * Returns the id of the conversation with a model that was saved last, and caches that conversation; a new id
 * if there is none.
 */
const newestQuery = (userId: string, model: string) =>
  queryOptions({
    queryKey: ['conversation', 'one', 'newest', model, userId],
    // Resolved once per page, so that a later save does not switch the open conversation.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const read = await call(getConversation, { query: { model } }, { signal });
      const id = read.id ?? firstOfTab(userId, model);
      queryClient.setQueryData(conversationQuery(userId, model, id).queryKey, read);
      return id;
    },
  });

/** Returns the id of this tab's next conversation; stable across reloads, so drafts survive. */
export function nextOfTab(userId: string): string {
  return firstOfTab(userId, 'next');
}

/** Returns another id for this tab's next conversation. */
export function renewNextOfTab(userId: string): string {
  writeToTab(userId, 'first.next', null);
  return nextOfTab(userId);
}

/** Returns the id of this tab's first conversation of a name, which is stable across reloads. */
function firstOfTab(userId: string, of: string): string {
  const name = `first.${of}`;
  const kept = readFromTab(userId, name);
  const id = typeof kept === 'string' ? kept : newUuid();
  writeToTab(userId, name, id);
  return id;
}

/** Creates a conversation with the settings of an existing one. Returns its id. */
export function createConversation(userId: string, model: string, from: ReadConversation): string {
  const id = newUuid();
  const conversation = from.conversation && { ...from.conversation, turns: [], unanswered: '' };
  const read = { id: null, conversation, version: 0, save_id: null, is_kept: from.is_kept };
  queryClient.setQueryData(conversationQuery(userId, model, id).queryKey, read);
  return id;
}

/**
 * Opens the `wanted` conversation with a model, otherwise the last saved one. Saving another conversation
 * later does not change the choice.
 */
export function useOpenedConversation(model: string, wanted: string | undefined) {
  const { id: userId } = useUser();
  const [found, setFound] = useState<{ model: string; id: string }>();
  const id = wanted ?? (found?.model === model ? found?.id : undefined);
  const finding = useQuery({ ...newestQuery(userId, model), enabled: id === undefined });
  if (id === undefined && finding.data !== undefined) setFound({ model, id: finding.data });
  const query = useQuery({ ...conversationQuery(userId, model, id ?? ''), enabled: id !== undefined });
  return { id, finding, query };
}
