import { beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../../lib/api/credentials.ts';
import { browserStorage } from '../../../lib/tab-storage.ts';
import { initialSettings } from './chat-options.tsx';
import type { Turn } from './kept-conversation.ts';
import { keepConversation, newestTurns, readConversation } from './kept-conversation.ts';

const exchange = (question: string): Turn[] => [
  { role: 'user', content: question },
  { role: 'assistant', content: 'Rye' },
];
const [first, second, third] = [exchange('first'), exchange('second'), exchange('third')] as const;
const empty = { turns: [], unanswered: '', settings: initialSettings };

beforeEach(() => {
  localStorage.clear();
  setCredentials({ userId: 'ada', apiKey: 'bk_1' });
});

test('of a long conversation the oldest questions go first, each with its answer', () => {
  const all = [...first, ...second, ...third];
  const { length } = JSON.stringify(all);
  expect(newestTurns(all, length)).toEqual(all);
  expect(newestTurns(all, length - 1)).toEqual([...second, ...third]);
  expect(newestTurns(all, 10)).toEqual([]);
});

test('at most 200,000 characters of turns are kept', () => {
  const long = exchange('e'.repeat(150_000));
  keepConversation('ada', 'pod', { ...empty, turns: [...long, ...long, ...third] });
  expect(readConversation('ada', 'pod').turns).toEqual([...long, ...third]);
});

test('an empty number field stays empty', () => {
  const settings = { system: 'Be short', options: { temperature: Number.NaN, max_tokens: 64, top_p: 0.5 } };
  keepConversation('ada', 'pod', { ...empty, settings });
  expect(readConversation('ada', 'pod').settings).toEqual(settings);
});

test('what cannot be read is an empty conversation', () => {
  browserStorage.keep('ada', 'conversation.pod', { turns: 'Rye' });
  expect(readConversation('ada', 'pod')).toEqual(empty);
});

test('of an empty conversation nothing is kept', () => {
  keepConversation('ada', 'pod', { ...empty, turns: first });
  keepConversation('ada', 'pod', empty);
  expect(localStorage).toHaveLength(0);
});

test('where the storage is full the oldest make room, and what still does not fit is said', () => {
  const { keep, read } = browserStorage;
  // The list, and three conversations.
  let room = 4;
  const full = vi.spyOn(browserStorage, 'keep').mockImplementation((userId, name, value) => {
    const isNew = value !== null && read(userId, name) === null;
    return isNew && localStorage.length >= room ? false : keep(userId, name, value);
  });
  for (let at = 0; at < 5; at += 1)
    expect(keepConversation('ada', `pod-${at}`, { ...empty, turns: first })).toBe(true);
  expect(readConversation('ada', 'pod-1')).toEqual(empty);
  for (const at of [2, 3, 4]) expect(readConversation('ada', `pod-${at}`).turns).toEqual(first);
  room = 0;
  expect(keepConversation('ada', 'pod-5', { ...empty, turns: first })).toBe(false);
  full.mockRestore();
});

test('the twenty that were open last are kept, and nothing of somebody else', () => {
  for (let at = 0; at < 21; at += 1) keepConversation('ada', `pod-${at}`, { ...empty, turns: first });
  expect(readConversation('ada', 'pod-0')).toEqual(empty);
  expect(readConversation('ada', 'pod-1').turns).toEqual(first);
  setCredentials({ userId: 'eve', apiKey: 'bk_2' });
  readConversation('eve', 'pod-1');
  expect(localStorage).toHaveLength(0);
});
