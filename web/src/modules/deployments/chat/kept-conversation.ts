import {
  getConversation,
  saveConversation,
  TURNS_LENGTH_MAX,
  type Conversation as WireConversation,
} from '@bakehouse/contract/conversations';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { browserStorage } from '../../../lib/tab-storage.ts';
import { type ChatSettings, initialSettings } from './chat-options.tsx';

export type Turn = WireConversation['turns'][number];

export type Conversation = {
  turns: Turn[];
  /** The last question, if nothing of an answer has come; otherwise empty. */
  unanswered: string;
  settings: ChatSettings;
};

/** What is to become of a conversation, whatever another tab has made of it meanwhile. */
type Change = (conversation: Conversation) => Conversation;

type Read = ResponseOf<typeof getConversation>;

/** What is typed into a setting is one save. */
const GATHER_MS = 250;
/** Saves that another tab or device comes before. */
const CONFLICTS_MAX = 5;
/** What a browser sends of a page that is being left. */
const KEEPALIVE_BYTES_MAX = 60_000;

export const emptyConversation: Conversation = { turns: [], unanswered: '', settings: initialSettings };

/** The user's conversation with a model, as the server keeps it. */
export const conversationQuery = (userId: string, model: string) =>
  endpointQuery(
    ['conversation', 'one', model, userId],
    getConversation,
    { query: { model } },
    { staleTime: 0 },
  );

/**
 * The conversation at hand: what the server keeps with the changes that are on their way there, one save after the
 * other. Where another tab or device has saved before, the changes are made to what that has saved. `show` is called
 * with what it has become, and `failed` where it could not be saved; the next save tries again.
 */
export function openConversation(
  { userId, model }: { userId: string; model: string },
  read: Read,
  { show, failed }: { show: (conversation: Conversation) => void; failed: (error: unknown) => void },
) {
  let { version } = read;
  let kept = fromWire(read.conversation);
  let changes: Change[] = [];
  const current = () => changes.reduce((conversation, change) => change(conversation), kept);

  function adopt(newer: Read): void {
    ({ version } = newer);
    kept = fromWire(newer.conversation);
    show(current());
  }

  async function save(): Promise<void> {
    for (let conflicts = 0; ; conflicts += 1) {
      const sent = changes.length;
      const conversation = current();
      try {
        ({ version } = await put(model, version, conversation));
        kept = conversation;
        changes = changes.slice(sent);
        const saved: Read = { conversation: toWire(kept), version, is_kept: true };
        queryClient.setQueryData(conversationQuery(userId, model).queryKey, saved);
        return;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 409) || conflicts === CONFLICTS_MAX) throw error;
        adopt(await call(getConversation, { query: { model } }));
      }
    }
  }

  const saves = gathered({ isDue: () => changes.length > 0, work: save, failed });
  const change = (made: Change): void => {
    changes = [...changes, made];
    show(current());
    if (read.is_kept) void saves.run();
  };
  const old = takeFromBrowser(userId, model);
  if (old && version === 0) change(() => old);
  return {
    current,
    change,
    /** Takes what another tab or device has saved. */
    follow: (newer: Read): void => {
      if (newer.version > version) adopt(newer);
    },
    /** Saves from now on without waiting for more. */
    flush: saves.flush,
    /** While the page is left: saves what is not saved yet, and what this change makes of it. */
    leave: (made?: Change): void => {
      if (!read.is_kept || (!made && changes.length === 0)) return;
      const conversation = made ? made(current()) : current();
      if (JSON.stringify(conversation).length > KEEPALIVE_BYTES_MAX) return;
      put(model, version, conversation, true).catch(() => undefined);
    },
  };
}

type Work = { isDue: () => boolean; work: () => Promise<void>; failed: (error: unknown) => void };

/** Does work that is due, once for what comes within a moment, until `flush`; a failure waits for the next time. */
function gathered({ isDue, work, failed }: Work) {
  let isRunning = false;
  let isFlushed = false;
  let endPause = () => {};
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, isFlushed ? 0 : GATHER_MS);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    async run(): Promise<void> {
      if (isRunning) return;
      isRunning = true;
      try {
        while (isDue()) {
          await pause();
          await work();
        }
      } catch (error) {
        failed(error);
      } finally {
        isRunning = false;
      }
    },
    flush: (): void => {
      isFlushed = true;
      endPause();
    },
  };
}

function put(model: string, version: number, conversation: Conversation, keepalive = false) {
  const turns = newestTurns(conversation.turns, TURNS_LENGTH_MAX);
  return call(
    saveConversation,
    { query: { model }, body: { version, conversation: toWire({ ...conversation, turns }) } },
    { keepalive },
  );
}

/** An empty number field is NaN, and null on the wire. */
function fromWire(conversation: WireConversation | null): Conversation {
  if (!conversation) return emptyConversation;
  const { options, ...settings } = conversation.settings;
  const { temperature, max_tokens } = options;
  const numbers = { temperature: temperature ?? Number.NaN, max_tokens: max_tokens ?? Number.NaN };
  return { ...conversation, settings: { ...settings, options: { ...options, ...numbers } } };
}

/** JSON makes null of NaN. */
function toWire(conversation: Conversation): WireConversation {
  return JSON.parse(JSON.stringify(conversation)) as WireConversation;
}

/** What this browser kept of the conversation before accounts did; it is there once. */
function takeFromBrowser(userId: string, model: string): Conversation | null {
  const name = `conversation.${model}`;
  const old = browserStorage.read(userId, name);
  if (old === null) return null;
  browserStorage.keep(userId, name, null);
  return fromWire(old as WireConversation);
}

/** Pure: the newest questions with their answers that fit. */
export function newestTurns(turns: Turn[], lengthMax: number): Turn[] {
  let first = 0;
  while (first < turns.length && JSON.stringify(turns.slice(first)).length > lengthMax) first += 2;
  return turns.slice(first);
}
