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
import { createFakeConversations } from '../chat/testing/create-fake-conversations.ts';
import { deploymentsRoutes } from './routes.ts';

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
  price_per_hour: '1',
  cost_so_far: '2',
  created_at: '2026-01-01T00:00:00.000Z',
  ready_at: '2026-01-01T00:01:00.000Z',
  last_request_at: null,
  terminated_at: null,
};
const SPELT = { ...RYE, pod_id: 'p-spelt', title: 'Spelt', model_name: 'spelt' };

/** The server's state, and the questions sent to each model. */
let has: { pods: object[]; models: object[]; total: number; preparations: object[] };
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
  if (pathname.endsWith('/stats'))
    return Response.json({
      ...{ total: has.total, running: 1, sleeping: 0 },
      cost: '2',
      requests: 3,
      completion_tokens: 9,
    });
  if (pathname.startsWith('/api/v1/deployments/'))
    return Response.json({ pods: has.pods, next_cursor: null });
  return kept.respond(url, init) ?? Response.json({ prices: [] });
}

function open(address = '/my-deployments') {
  const root: AnyRoute = createRootRoute({ component: Outlet });
  const app = createRoute({ getParentRoute: () => root, id: 'app' });
  const router = createRouter({
    routeTree: root.addChildren([app.addChildren([...deploymentsRoutes(app)])]),
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
const ask = async (chat: HTMLElement, question: string) =>
  userEvent.type(await within(chat).findByLabelText('Message'), `${question}{Enter}`);

beforeAll(() => import('./deployments-page.tsx'));

beforeEach(() => {
  sessionStorage.clear();
  has = { pods: [], models: [STARTER], total: 0, preparations: [] };
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

test('a user without deployments chats with the starter model, without figures or search', async () => {
  open();
  const chat = await chatWith('smol');
  await screen.findByText('Nothing is deployed');
  expect(screen.queryByText('Tokens generated')).toBeNull();
  expect(screen.queryByLabelText('Search deployments')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Compare' })).toBeNull();
  await ask(chat, 'Which bread?');
  await within(chat).findByText('smol answers');
  expect(asked).toEqual([{ model: 'smol', question: 'Which bread?' }]);
});

test('chats with the newest running deployment, next to the list and the figures', async () => {
  has.pods = [{ ...SPELT, status: 'sleeping' }, RYE, { ...RYE, pod_id: 'vectors', task: 'embedding' }];
  has.total = 4;
  open();
  await ask(await chatWith('rye'), 'Which bread?');
  expect(asked).toEqual([{ model: 'rye', question: 'Which bread?' }]);
  await screen.findByText('Tokens generated');
  expect(screen.getByLabelText('Search deployments')).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Spelt' })).toBeTruthy();
});

test('changing the model changes the URL, and a new deployment does not change the chosen model', async () => {
  has.pods = [RYE];
  const router = open();
  const chat = await chatWith('rye');
  has.pods = [SPELT, RYE];
  await queryClient.invalidateQueries({ queryKey: ['deployment'] });
  expect(await chatWith('rye')).toBe(chat);
  await userEvent.click(within(chat).getByRole('combobox', { name: 'Model' }));
  await userEvent.click(await screen.findByRole('option', { name: /^smol/ }));
  await chatWith('smol');
  expect(router.state.location.search).toEqual({ chat: 'smol' });
});

test('the URL names the conversation; comparing two models starts a new one', async () => {
  has.pods = [RYE];
  const bread = kept.keep('p-rye', { turns: [{ role: 'user', content: 'Which bread?' }] });
  const cake = kept.keep('p-rye', { turns: [{ role: 'user', content: 'Which cake?' }] }, crypto.randomUUID());
  const router = open(`/my-deployments?chat=p-rye&conversation=${bread}`);
  await within(await chatWith('rye')).findByText('Which bread?');
  await userEvent.click(screen.getByRole('button', { name: 'Compare' }));
  await screen.findByRole('button', { name: 'Stop comparing' });
  expect(screen.queryByText('Which bread?')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Stop comparing' }));
  await screen.findByText('Which bread?');
  await userEvent.click(screen.getByRole('button', { name: 'History' }));
  await userEvent.click(await screen.findByRole('button', { name: /^Which cake/ }));
  await vi.waitFor(() => expect(screen.queryByText('Which bread?')).toBeNull());
  expect(router.state.location.search).toEqual({ chat: 'p-rye', conversation: cake });
  router.history.back();
  await screen.findByText('Which bread?');
});

test('asking puts the conversation into the URL; an invalid id is ignored', async () => {
  const router = open('/my-deployments?conversation=bread');
  const chat = await chatWith('smol');
  await ask(chat, 'Which bread?');
  await within(chat).findByText('smol answers');
  await vi.waitFor(() => expect(kept.titles('smol')).toEqual(['Which bread?']));
  expect(router.state.location.search).toEqual({ chat: 'smol', conversation: expect.any(String) });
  await userEvent.click(within(chat).getByRole('button', { name: 'New conversation' }));
  await vi.waitFor(() => expect(screen.queryByText('Which bread?')).toBeNull());
});

test('two models side by side can be asked together or separately', async () => {
  has.pods = [RYE];
  const router = open('/my-deployments?status=running');
  await userEvent.click(await screen.findByRole('button', { name: 'Compare' }));
  const [left, right] = [await chatWith('rye'), await chatWith('smol')];
  expect(router.state.location.search).toEqual({ status: 'running', chat: 'p-rye', beside: 'smol' });
  expect(await screen.findAllByLabelText('Message')).toHaveLength(1);
  await ask(document.body, 'Which bread?');
  await within(left).findByText('rye answers');
  await within(right).findByText('smol answers');
  // The comparison is not saved.
  expect([kept.titles('p-rye'), kept.titles('smol')]).toEqual([[], []]);
  await userEvent.click(screen.getByRole('checkbox', { name: 'Send each question to both models' }));
  await ask(right, 'Why?');
  await within(right).findByText('Why?');
  expect(asked.map(({ model, question }) => `${model}: ${question}`)).toEqual([
    'rye: Which bread?',
    'smol: Which bread?',
    'smol: Why?',
  ]);
  await userEvent.click(screen.getByRole('button', { name: 'Start over' }));
  await vi.waitFor(() => expect(screen.queryByText('Which bread?')).toBeNull());
  await userEvent.click(within(right).getByRole('button', { name: 'Stop comparing' }));
  await screen.findByRole('button', { name: 'Compare' });
  expect(router.state.location.search).toEqual({ status: 'running', chat: 'p-rye' });
});

test('a new installation shows that its starter model is being prepared', async () => {
  has.models = [];
  has.preparations = [{ id: 'starter-language-model', state: 'running' }];
  open();
  await screen.findByText('The starter model is being prepared');
  expect(screen.queryByLabelText('Message')).toBeNull();
});
