import { QueryClientProvider } from '@tanstack/react-query';
import {
  type AnyRoute,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { UserContext } from '../accounts/session.ts';
import { chatRoutes } from './routes.ts';
import { createFakeConversations } from './testing/create-fake-conversations.ts';

const STARTER = { id: 'smol', owned_by: 'bakehouse', task: 'text' };
const RYE = {
  pod_id: 'p-rye',
  task: 'text',
  title: 'Rye',
  model_name: 'rye',
  base_model_title: 'Smol',
  status: 'running',
  device: 'CPU',
  context_tokens: 8192,
  vision: false,
  price_per_hour: '1',
  cost_so_far: '2',
  created_at: '2026-01-01T00:00:00.000Z',
  ready_at: '2026-01-01T00:01:00.000Z',
  last_request_at: null,
  terminated_at: null,
};
const ENDED = '00000000-0000-4000-8000-000000000000';
const SPELT = { ...RYE, pod_id: 'p-spelt', title: 'Spelt', model_name: 'spelt' };

/** The server's state, and the questions sent to each model. */
let has: { pods: object[]; models: object[]; preparations: object[] };
let asked: { model: string; question: string }[];
let kept: ReturnType<typeof createFakeConversations>;

function answer(url: string, init: { method: string; body: string }) {
  const { pathname } = new URL(url, 'http://localhost');
  if (pathname === '/v1/chat/completions') {
    const { model, messages } = JSON.parse(init.body);
    asked.push({ model, question: messages.at(-1).content });
    const chunk = { choices: [{ delta: { content: `${model} answers` } }] };
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  }
  if (pathname === '/v1/models') return Response.json({ data: has.models });
  if (pathname === '/api/v1/machine')
    return Response.json({ serves_text_on_gpus: false, preparations: has.preparations });
  if (pathname.endsWith('/status'))
    return Response.json({ ...RYE, pod_id: ENDED, status: 'terminated', terminated_at: RYE.created_at });
  if (pathname.startsWith('/api/v1/deployments/'))
    return Response.json({ pods: has.pods, next_cursor: null });
  return kept.respond(url, init) ?? Response.json({ prices: [] });
}

function open(address = '/chat') {
  const root: AnyRoute = createRootRoute({ component: Outlet });
  const app = createRoute({ getParentRoute: () => root, id: 'app' });
  const router = createRouter({
    routeTree: root.addChildren([app.addChildren([...chatRoutes(app)])]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
  return router;
}

const chatWith = (name: string) => screen.findByRole('region', { name: `Chat with ${name}` });
/** Simulates the server's event. */
const announceSaves = () => queryClient.invalidateQueries({ queryKey: ['conversation'] });
const past = async () => within(await screen.findByRole('navigation', { name: 'Conversations' }));
const ask = async (chat: HTMLElement, question: string) =>
  userEvent.type(await within(chat).findByLabelText('Message'), `${question}{Enter}`);

beforeAll(() => import('./chat-page.tsx'));

beforeEach(() => {
  sessionStorage.clear();
  has = { pods: [], models: [STARTER], preparations: [] };
  asked = [];
  kept = createFakeConversations();
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  vi.stubGlobal('fetch', async (url: string, init: { method: string; body: string }) => answer(url, init));
});

afterEach(async () => {
  cleanup();
  await new Promise((resolve) => setTimeout(resolve));
  queryClient.clear();
  vi.unstubAllGlobals();
});

test('a user without deployments chats with the starter model, which has questions to begin with', async () => {
  const router = open();
  const chat = await chatWith('smol');
  expect(screen.queryByRole('button', { name: 'Compare' })).toBeNull();
  await userEvent.click(await within(chat).findByRole('button', { name: 'What is bread made of?' }));
  await within(chat).findByText('smol answers');
  expect(asked).toEqual([{ model: 'smol', question: 'What is bread made of?' }]);
  expect(router.state.location.search).toEqual({ model: 'smol', conversation: expect.any(String) });
  await vi.waitFor(() => expect(kept.titles('smol')).toEqual(['What is bread made of?']));
  await announceSaves();
  await (await past()).findByRole('button', { name: /^What is bread made of.*smol$/, current: true });
});

test('chats with the newest running deployment', async () => {
  has.pods = [{ ...SPELT, status: 'sleeping' }, RYE, { ...RYE, pod_id: 'vectors', task: 'embedding' }];
  open();
  await ask(await chatWith('rye'), 'Which bread?');
  expect(asked).toEqual([{ model: 'rye', question: 'Which bread?' }]);
});

test('changing the model changes the URL, and a new deployment does not change the chosen model', async () => {
  has.pods = [RYE];
  const router = open();
  const chat = await chatWith('rye');
  has.pods = [SPELT, RYE];
  await queryClient.invalidateQueries({ queryKey: ['deployment'] });
  expect(await chatWith('rye')).toBe(chat);
  await userEvent.type(await within(chat).findByLabelText('Message'), 'Which bread?');
  await userEvent.click(within(chat).getByRole('combobox', { name: 'Model' }));
  await userEvent.click(await screen.findByRole('option', { name: /^smol/ }));
  const other = await chatWith('smol');
  expect(router.state.location.search).toEqual({ model: 'smol' });
  expect((await within(other).findByLabelText<HTMLTextAreaElement>('Message')).value).toBe('Which bread?');
});

test('opens, continues and deletes earlier conversations of all models', async () => {
  has.pods = [RYE];
  const bread = kept.keep('p-rye', { turns: [{ role: 'user', content: 'Which bread?' }] });
  kept.keep('smol', { turns: [{ role: 'user', content: 'Which cake?' }] });
  const router = open(`/chat?model=p-rye&conversation=${bread}`);
  await within(await chatWith('rye')).findByText('Which bread?');
  await userEvent.click((await past()).getByRole('button', { name: /^Which cake/ }));
  await within(await chatWith('smol')).findByText('Which cake?');
  router.history.back();
  await within(await chatWith('rye')).findByText('Which bread?');
  await userEvent.click((await past()).getByRole('button', { name: 'Delete “Which bread?”' }));
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await vi.waitFor(() => expect(router.state.location.search).toEqual({ model: 'p-rye' }));
  expect(screen.queryByText('Which bread?')).toBeNull();
});

test('asking puts the conversation into the URL; an invalid id is ignored', async () => {
  const router = open('/chat?conversation=bread');
  const chat = await chatWith('smol');
  await ask(chat, 'Which bread?');
  await within(chat).findByText('smol answers');
  await vi.waitFor(() => expect(kept.titles('smol')).toEqual(['Which bread?']));
  expect(router.state.location.search).toEqual({ model: 'smol', conversation: expect.any(String) });
  await userEvent.click(screen.getByRole('button', { name: 'New conversation' }));
  await vi.waitFor(() => expect(within(screen.getByRole('log')).queryByText('Which bread?')).toBeNull());
  expect(document.activeElement).toBe(screen.getByLabelText('Message'));
});

test('two models side by side can be asked together or separately, and are kept as one conversation', async () => {
  has.pods = [RYE];
  const router = open();
  await userEvent.click(await screen.findByRole('button', { name: 'Compare' }));
  const [left, right] = [await chatWith('rye'), await chatWith('smol')];
  expect(router.state.location.search).toEqual({ model: 'p-rye', compare: 'smol' });
  expect(await screen.findAllByLabelText('Message')).toHaveLength(1);
  await ask(document.body, 'Which bread?');
  await within(left).findByText('rye answers');
  await within(right).findByText('smol answers');
  await userEvent.click(screen.getByRole('checkbox', { name: 'Send each question to both models' }));
  await ask(right, 'Why?');
  await within(right).findByText('Why?');
  expect(asked.map(({ model, question }) => `${model}: ${question}`)).toEqual([
    'rye: Which bread?',
    'smol: Which bread?',
    'smol: Why?',
  ]);
  await vi.waitFor(() => expect(kept.read('smol').turns).toHaveLength(4));
  const { search } = router.state.location;
  await userEvent.click(within(right).getByRole('button', { name: 'Stop comparing' }));
  await screen.findByRole('button', { name: 'Compare' });
  expect(router.state.location.search).toEqual({ model: 'p-rye' });
  await announceSaves();
  await userEvent.click(await (await past()).findByRole('button', { name: /^Which bread.*Rye and smol$/ }));
  await within(await chatWith('rye')).findByText('rye answers');
  await within(await chatWith('smol')).findByText('Why?');
  expect(router.state.location.search).toEqual(search);
});

test('the conversation with an ended deployment can be read', async () => {
  const id = kept.keep(ENDED, { turns: [{ role: 'user', content: 'Which bread?' }] });
  open(`/chat?model=${ENDED}&conversation=${id}`);
  await screen.findByText('This deployment has ended. Deploy the model again to chat with it.');
  expect(within(screen.getByRole('log')).getByText('Which bread?')).toBeTruthy();
  expect(screen.queryByLabelText('Message')).toBeNull();
});

test('if a compared model ends, its side becomes read-only and no other model is asked', async () => {
  const ended = { ...SPELT, pod_id: ENDED };
  has.pods = [RYE, ended];
  const turns = [{ role: 'user' as const, content: 'Which bread?' }];
  const id = kept.keep(ENDED, { turns });
  kept.keep('p-rye', { turns }, id);
  const router = open(`/chat?model=p-rye&compare=${ENDED}&conversation=${id}`);
  await chatWith('spelt');
  const left = await chatWith('rye');
  has.pods = [RYE];
  await queryClient.invalidateQueries({ queryKey: ['deployment'] });
  await screen.findByText('This deployment has ended. Deploy the model again to chat with it.');
  expect(screen.getAllByText('Which bread?', { selector: '[role=log] *' })).toHaveLength(2);
  expect(await chatWith('rye')).toBe(left);
  await ask(left, 'Why?');
  await within(left).findByText('rye answers');
  expect(asked).toEqual([{ model: 'rye', question: 'Why?' }]);
  // The other side may also be the one that ended.
  await userEvent.click(screen.getByRole('button', { name: 'Stop comparing' }));
  await userEvent.click(await (await past()).findByRole('button', { name: /Rye and Ended deployment$/ }));
  expect(router.state.location.search).toEqual({ model: 'p-rye', compare: ENDED, conversation: id });
  await router.navigate({ to: `/chat?model=${ENDED}&compare=p-rye&conversation=${id}` } as never);
  await chatWith('rye');
  await screen.findByText('This deployment has ended. Deploy the model again to chat with it.');
  expect(asked).toHaveLength(1);
});

test('a new installation shows that its starter model is being prepared', async () => {
  has.models = [];
  has.preparations = [{ id: 'starter-language-model', state: 'running' }];
  open();
  await screen.findByText('The starter model is being prepared');
  expect(screen.queryByLabelText('Message')).toBeNull();
});
