import { getConversation, saveConversation } from '@bakehouse/contract/conversations';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { type Conversation, conversationQuery, emptyConversation } from '../kept-conversation.ts';

type Kept = { version: number; save_id?: string; conversation: Conversation };

/** For tests: the conversations of one user as the server keeps them. */
export function keptConversations() {
  const rows = new Map<string, Kept>();
  const get = (model: string) => {
    const { version = 0, save_id = null, conversation = null } = rows.get(model) ?? {};
    return { version, save_id, conversation, is_kept: true };
  };
  const save = (model: string, { version, save_id, conversation }: Kept) => {
    if (version !== get(model).version) return null;
    rows.set(model, { version: version + 1, save_id: save_id ?? crypto.randomUUID(), conversation });
    return { version: version + 1 };
  };
  const keep = (model: string, conversation: Partial<Conversation>) =>
    save(model, { version: get(model).version, conversation: { ...emptyConversation, ...conversation } });
  return {
    keep,
    /** Another tab saves it, and this one hears of that. */
    keepElsewhere: async (model: string, conversation: Partial<Conversation>) => {
      keep(model, conversation);
      await queryClient.invalidateQueries({ queryKey: conversationQuery('', model).queryKey.slice(0, 3) });
    },
    version: (model: string) => get(model).version,
    read: (model: string) => get(model).conversation ?? emptyConversation,
    /** The answer to a call; undefined where it is another one. */
    answer: (endpoint: Endpoint, { query, body }: { query?: { model: string }; body?: Kept } = {}) => {
      if (endpoint === getConversation) return get(query?.model ?? '');
      return endpoint === saveConversation && body ? save(query?.model ?? '', body) : undefined;
    },
    /** The answer to a request; undefined where it is another one. */
    respond: (url: string, { method, body }: { method?: string; body?: unknown }) => {
      const { pathname, searchParams } = new URL(url, 'http://localhost');
      if (pathname !== getConversation.path) return undefined;
      const model = searchParams.get('model') ?? '';
      if (method !== 'PUT') return Response.json(get(model));
      const saved = save(model, JSON.parse(String(body)));
      const error = { code: 'conflict', message: 'This conversation was changed in another tab' };
      return saved ? Response.json(saved) : Response.json({ error }, { status: 409 });
    },
  };
}
