import { getConversation, saveConversation } from '@bakehouse/contract/conversations';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { browserStorage } from '../../lib/tab-storage.ts';
import type { Turn } from './chat.ts';
import { initialSettings } from './chat-options.tsx';
import { type Conversation, newestTurns, OpenConversation } from './saved-conversation.ts';
import { createFakeConversations } from './testing/create-fake-conversations.ts';

let kept = createFakeConversations();
/** While set, every save fails. */
let failure: Error | null;
const call = vi.hoisted(() => vi.fn<(endpoint: Endpoint, input: object) => Promise<unknown>>());
vi.mock('../../lib/api/api-client.ts', () => ({ call }));

const OF = { userId: 'ada', model: 'rye', id: crypto.randomUUID() };
const WHOLE = { query: { model: 'rye', id: OF.id } };

const exchange = (question: string): Turn[] => [
  { role: 'user', content: question },
  { role: 'assistant', content: 'Rye' },
];
const [first, second, third] = [exchange('first'), exchange('second'), exchange('third')] as const;
const add = (turns: Turn[]) => (now: Conversation) => ({ ...now, turns: [...now.turns, ...turns] });
const shown = vi.fn<(conversation: Conversation) => void>();
const failed = vi.fn<(error: unknown) => void>();

function open(is_kept = true) {
  const conversation = new OpenConversation(
    OF,
    { id: null, conversation: null, version: 0, save_id: null, is_kept },
    { show: shown, failed },
  );
  conversation.open();
  return conversation;
}

beforeEach(async () => {
  const { ApiError } = await import('../../lib/api/api-error.ts');
  kept = createFakeConversations();
  failure = null;
  shown.mockClear();
  failed.mockClear();
  call.mockReset().mockImplementation(async (endpoint, input) => {
    if (failure && endpoint === saveConversation) throw failure;
    const answer = kept.answer(endpoint, input);
    if (answer === null) throw new ApiError('Changed elsewhere', { status: 409 });
    return answer;
  });
  localStorage.clear();
  sessionStorage.clear();
  setCredentials({ userId: 'ada', apiKey: 'bk_1' });
});

afterEach(() => vi.useRealTimers());

test('a long conversation drops its oldest questions first, with their answers', () => {
  const all = [...first, ...second, ...third];
  const { length } = JSON.stringify(all);
  expect(newestTurns(all, length)).toEqual(all);
  expect(newestTurns(all, length - 1)).toEqual([...second, ...third]);
  expect(newestTurns(all, 10)).toEqual([]);
});

test('batches several changes into one save', async () => {
  const conversation = open();
  conversation.change(add(first));
  conversation.change(add(second));
  expect(shown).toHaveBeenLastCalledWith(expect.objectContaining({ turns: [...first, ...second] }));
  await expect.poll(() => kept.read('rye').turns).toEqual([...first, ...second]);
  expect(call).toHaveBeenCalledOnce();
});

test('batches saves again after it was closed and opened, as React does in development', async () => {
  const conversation = open();
  conversation.open()();
  conversation.open();
  conversation.change(add(first));
  conversation.change(add(second));
  await expect.poll(() => kept.read('rye').turns).toEqual([...first, ...second]);
  expect(call).toHaveBeenCalledOnce();
});

test('applies a change to the version that another tab saved', async () => {
  const conversation = open();
  kept.keep('rye', { turns: first }, OF.id);
  conversation.change(add(second));
  await expect.poll(() => kept.read('rye').turns).toEqual([...first, ...second]);
  expect(conversation.current().turns).toEqual([...first, ...second]);
});

test('retries a failed save, and keeps the change in this tab until then', async () => {
  vi.useFakeTimers();
  const conversation = open();
  failure = new Error('The server is away');
  conversation.change(add(first));
  await vi.advanceTimersByTimeAsync(300);
  expect(failed.mock.calls).toEqual([[failure]]);
  expect(sessionStorage).toHaveLength(1);
  failure = null;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(kept.read('rye').turns).toEqual(first);
  expect(sessionStorage).toHaveLength(0);
});

test('does not repeat a save whose response was lost', async () => {
  vi.useFakeTimers();
  call.mockImplementationOnce(async (endpoint, input) => {
    kept.answer(endpoint, input);
    throw new Error('The connection broke');
  });
  const conversation = open();
  conversation.change(add(first));
  await vi.advanceTimersByTimeAsync(300);
  conversation.change(add(second));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(kept.read('rye').turns).toEqual([...first, ...second]);
});

test('does not repeat a save if another tab saved on top of it before our response arrived', async () => {
  const conversation = open();
  call.mockImplementationOnce(async (endpoint, input) => {
    const answer = kept.answer(endpoint, input);
    kept.keep('rye', { turns: [...first, ...third] }, OF.id);
    conversation.follow((await call(getConversation, WHOLE)) as never);
    return answer;
  });
  conversation.change(add(first));
  await expect.poll(() => conversation.current().turns).toEqual([...first, ...third]);
  expect(kept.read('rye').turns).toEqual([...first, ...third]);
});

test('restores changes made while leaving the page, unless they were saved', async () => {
  const conversation = open();
  conversation.leave(add(first));
  expect(kept.read('rye').turns).toEqual(first);
  const read = kept.answer(getConversation, WHOLE) as ConstructorParameters<typeof OpenConversation>[1];
  const again = new OpenConversation(OF, read, { show: shown, failed });
  expect(again.current().turns).toEqual(first);
  failure = new Error('The server is away');
  again.leave(add(second));
  expect(new OpenConversation(OF, read, { show: shown, failed }).current().turns).toEqual([
    ...first,
    ...second,
  ]);
});

test('an empty number field stays empty', async () => {
  const settings = { system: 'Be short', options: { temperature: Number.NaN, max_tokens: 64, top_p: 0.5 } };
  open().change((now) => ({ ...now, settings }));
  await expect.poll(() => kept.read('rye').settings.options.temperature).toBeNull();
  const conversation = new OpenConversation(
    OF,
    {
      id: OF.id,
      conversation: JSON.parse(JSON.stringify(kept.read('rye'))),
      version: 1,
      save_id: null,
      is_kept: true,
    },
    { show: shown, failed },
  );
  expect(conversation.current().settings).toEqual(settings);
});

test('migrates conversations that this browser stored earlier, and deletes them once saved', async () => {
  const old = { turns: first, unanswered: '', settings: initialSettings };
  browserStorage.set('ada', 'conversation.rye', old);
  expect(open().current()).toEqual(old);
  await expect.poll(() => kept.read('rye').turns).toEqual(first);
  await expect.poll(() => localStorage.length).toBe(0);
});

test('sends nothing if conversations are not saved', () => {
  const conversation = open(false);
  conversation.change(add(first));
  conversation.leave();
  expect(conversation.current().turns).toEqual(first);
  expect(call).not.toHaveBeenCalled();
});
