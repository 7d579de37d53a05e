import {
  type ConversationRow,
  deleteConversation,
  getConversation,
  listConversations,
  saveConversation,
} from '@bakehouse/contract/conversations';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import { queryClient } from '../../../lib/api/query-client.ts';
import { conversationQuery } from '../conversation-queries.ts';
import { type Conversation, emptyConversation } from '../saved-conversation.ts';

type Save = { version: number; save_id?: string; conversation: Conversation };
type Kept = Required<Save> & { id: string; model: string };
type Input = { query?: { model: string; id?: string }; body?: Save };

/** For tests: a fake server with one user's conversations. */
export function createFakeConversations() {
  /** Oldest save first. */
  let rows: Kept[] = [];
  const of = (model: string) => rows.filter((row) => row.model === model).reverse();
  const find = (model: string, id?: string) => of(model).find((row) => id === undefined || row.id === id);
  const get = (model: string, wanted?: string) => {
    const { id = null, version = 0, save_id = null, conversation } = find(model, wanted) ?? {};
    const settings = of(model)[0]?.conversation.settings;
    const begun = settings && { ...emptyConversation, settings };
    return { id, version, save_id, conversation: conversation ?? begun ?? null, is_kept: true };
  };
  const remove = (model: string, id: string) => {
    rows = rows.filter((row) => row.model !== model || row.id !== id);
  };
  const save = (model: string, id: string, { version, save_id, conversation }: Save) => {
    if (version !== get(model, id).version) return null;
    remove(model, id);
    rows.push({ id, model, version: version + 1, save_id: save_id ?? crypto.randomUUID(), conversation });
    return { version: version + 1 };
  };
  const list = (model?: string): { conversations: ConversationRow[] } => ({
    conversations: (model ? of(model) : rows.toReversed())
      .map(({ id, model: own, conversation: { turns, unanswered } }) => ({
        id,
        model: own,
        title: turns[0]?.content ?? unanswered,
        saved_at: '2026-01-01T00:00:00.000Z',
      }))
      .filter(({ title }) => title !== ''),
  });
  /** Saves into the newest conversation with that model unless an id is given. */
  const keep = (model: string, conversation: Partial<Conversation>, id = of(model)[0]?.id) => {
    const into = id ?? crypto.randomUUID();
    const { version } = get(model, into);
    save(model, into, { version, conversation: { ...emptyConversation, ...conversation } });
    return into;
  };
  const answer = (endpoint: Endpoint, { query: { model = '', id } = { model: '' }, body }: Input) => {
    if (endpoint === listConversations) return list(model);
    if (endpoint === getConversation) return get(model, id);
    if (endpoint === deleteConversation) {
      remove(model, id ?? '');
      return undefined;
    }
    return endpoint === saveConversation && body ? save(model, id ?? '', body) : undefined;
  };
  return {
    keep,
    /** Simulates a save by another tab and the event that announces it. */
    keepElsewhere: async (model: string, conversation: Partial<Conversation>) => {
      const id = keep(model, conversation);
      await queryClient.invalidateQueries({
        queryKey: conversationQuery('', model, id).queryKey.slice(0, 3),
      });
    },
    version: (model: string) => get(model).version,
    /** The newest conversation with that model. */
    read: (model: string) => get(model).conversation ?? emptyConversation,
    titles: (model: string) => list(model).conversations.map(({ title }) => title),
    /** Answers a call; null for a rejected save, undefined for other endpoints. */
    answer,
    /** Answers a request; undefined for other endpoints. */
    respond: (url: string, request: { method?: string; body?: string }) => respond(answer, url, request),
  };
}

type Answer = (endpoint: Endpoint, input: Input) => object | null | undefined;

function respond(answer: Answer, url: string, { method = 'GET', body }: { method?: string; body?: string }) {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const one = { GET: getConversation, PUT: saveConversation, DELETE: deleteConversation }[method];
  const endpoint = pathname === listConversations.path ? listConversations : one;
  if (endpoint?.path !== pathname) return undefined;
  const { model = '', id } = Object.fromEntries(searchParams);
  const query = { model, ...(id && { id }) };
  const input = { query, ...(body !== undefined && { body: JSON.parse(body) }) };
  const answered = answer(endpoint, input);
  if (answered === undefined) return new Response(null, { status: 204 });
  const error = { code: 'conflict', message: 'This conversation was changed in another tab' };
  return answered ? Response.json(answered) : Response.json({ error }, { status: 409 });
}
