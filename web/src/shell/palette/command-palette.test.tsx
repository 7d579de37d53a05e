import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { generationOf } from '../../modules/generations/testing/generation-of.ts';
import { CommandPalette } from './command-palette.tsx';
import { keepKeys } from './kept-keys.ts';

const navigate = vi.hoisted(() => vi.fn<(to: object) => void>());
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useLocation: () => ({ pathname: '/dashboard' }),
  useNavigate: () => navigate,
}));
vi.mock('../../modules/accounts/session.ts', async (original) => ({
  ...(await original<object>()),
  useUser: () => ({ id: 'u1', isOperator: false }),
}));

let flux: object[] = [];
let pictures: object[] = [];
/** What the server finds by name only: no first page has it. */
let named: { pods?: object[]; runs?: object[] } = {};
afterEach(() => {
  flux = [];
  pictures = [];
  named = {};
  vi.unstubAllGlobals();
});

/** Types into a palette whose searches are answered like this; what else it reads is empty. */
function search(status: number, answer: unknown, typed: string): Promise<void> {
  return type(typed, async () => Response.json(answer, { status }));
}

async function type(typed: string, answerTo: (words: string) => Promise<Response>): Promise<void> {
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  vi.stubGlobal(
    'fetch',
    vi.fn(async (url: string) =>
      url.includes('/v1/search')
        ? answerTo(new URL(url, 'http://localhost').searchParams.get('query') ?? '')
        : Response.json({
            pods: [],
            runs: [],
            datasets: [],
            deployments: url.includes('/deployments/images/') ? flux : [],
            accelerators: [],
            generations: url.includes('/generations') ? pictures : [],
            next_cursor: null,
            ...(url.includes('search=sourdough') && named),
          }),
    ),
  );
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <CommandPalette onClose={() => {}} />
    </QueryClientProvider>,
  );
  await userEvent.type(screen.getByRole('combobox'), typed);
}

const model = (id: string, name: string, deploys_as: 'text' | 'image' | null = 'text') => ({
  kind: 'model',
  id,
  name,
  deploys_as,
  tags: [],
});

test('a search that failed is not shown as one that found nothing', async () => {
  await search(503, { error: { code: 'unavailable', message: 'The database is away.' } }, 'zzz');
  expect((await screen.findByRole('alert')).textContent).toBe('The search failed: The database is away.');
  expect(screen.queryByText('Nothing matches')).toBeNull();
});

test('pages and actions are there all the same', async () => {
  await search(503, { error: { code: 'unavailable', message: 'The database is away.' } }, 'dark');
  await screen.findByRole('alert');
  expect(screen.getByRole('option', { name: 'Use the dark theme' })).toBeTruthy();
});

test('a search that found nothing says so', async () => {
  await search(200, { results: [], similar: false }, 'zzz');
  await screen.findByText('Nothing matches');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('what was found for other words stands only where it fits what is typed now', async () => {
  const all = [model('k', 'Kontext starter'), model('s', 'SmolLM2-135M-Instruct')];
  const never = new Promise<Response>(() => undefined);
  await type('deploy smol', (words) =>
    words === '' ? Promise.resolve(Response.json({ results: all, similar: false })) : never,
  );
  await screen.findByRole('option', { name: 'Deploy SmolLM2-135M-Instruct' });
  expect(screen.queryByRole('option', { name: 'Deploy Kontext starter' })).toBeNull();
});

test('each model is deployed as what it is, and what cannot be is not offered', async () => {
  const results = [model('s', 'Smol'), model('k', 'Kontext', 'image'), model('p', 'Paris', null)];
  await search(200, { results, similar: false }, 'deploy ');
  await screen.findByRole('option', { name: 'Deploy Smol' });
  expect(screen.queryByRole('option', { name: /Paris/ })).toBeNull();
  await userEvent.click(screen.getByRole('option', { name: 'Deploy Kontext Image model' }));
  expect(navigate).toHaveBeenCalledWith({ to: '/my-deployments/images', search: { deploy: 'k' } });
});

test('a deployment of an image model is found and terminated like any other, until it has ended', async () => {
  const deployed = { kind: 'flux', created_at: '2026-01-01T00:00:00Z', terminated_at: null };
  flux = [
    { ...deployed, pod_id: 'p1', title: 'Rye Painter', model_name: 'rye-painter', status: 'READY' },
    {
      ...deployed,
      pod_id: 'p2',
      title: 'Old Painter',
      model_name: 'old-painter',
      status: 'failed',
      terminated_at: '2026-01-02T00:00:00Z',
    },
  ];
  await search(200, { results: [], similar: false }, 'painter');
  await userEvent.click(await screen.findByRole('option', { name: 'Rye Painter rye-painter · sleeping' }));
  expect(navigate).toHaveBeenCalledWith({
    to: '/my-deployments/images/$podId',
    params: { podId: 'p1' },
  });
  await userEvent.clear(screen.getByRole('combobox'));
  await userEvent.type(screen.getByRole('combobox'), 'terminate ');
  expect(await screen.findByRole('option', { name: 'Terminate Rye Painter rye-painter' })).toBeTruthy();
  expect(screen.queryByRole('option', { name: /Terminate Old Painter/ })).toBeNull();
});

test('a run and a deployment of long ago are found by the server, which is asked once the typing has stopped', async () => {
  const pod = {
    pod_id: 'p9',
    title: 'Sourdough chat',
    model_name: 'sourdough-2',
    created_at: '2024-01-01T00:00:00Z',
  };
  named = {
    pods: [{ ...pod, status: 'terminated', terminated_at: '2024-02-01T00:00:00Z' }],
    runs: [{ run_id: 'r9', title: 'Sourdough model', created_at: '2024-01-01T00:00:00Z' }],
  };
  await search(200, { results: [], similar: false }, 'sourdough');
  await screen.findByRole('option', { name: 'Sourdough chat sourdough-2 · terminated' });
  const asked = vi.mocked(fetch).mock.calls.flatMap(([url]) => (typeof url === 'string' ? url : []));
  expect(asked.filter((url) => url.includes('/runs?') && url.includes('search='))).toHaveLength(1);
  await userEvent.click(screen.getByRole('option', { name: 'Sourdough model' }));
  expect(navigate).toHaveBeenCalledWith({ to: '/runs/$id', params: { id: 'r9' } });
});

test('a deployment that no first page has is terminated by its name, one that has ended is not', async () => {
  const pod = { status: 'running', model_name: 'sourdough', created_at: '2024-01-01T00:00:00Z' };
  named = {
    pods: [
      { ...pod, pod_id: 'p8', title: 'Sourdough now', terminated_at: null },
      { ...pod, pod_id: 'p9', title: 'Sourdough then', terminated_at: '2024-02-01T00:00:00Z' },
    ],
  };
  await search(200, { results: [], similar: false }, 'terminate sourdough');
  expect(await screen.findByRole('option', { name: 'Terminate Sourdough now sourdough' })).toBeTruthy();
  expect(screen.queryByRole('option', { name: /Terminate Sourdough then/ })).toBeNull();
});

test('the API key is copied on plain http too, where a page has no clipboard', async () => {
  const clipboard = vi.spyOn(navigator, 'clipboard', 'get').mockReturnValue(undefined as never);
  let copied = '';
  Object.assign(document, {
    execCommand: () => {
      copied = (document.activeElement as HTMLTextAreaElement).value;
      return true;
    },
  });
  await search(200, [], 'copy api');
  await userEvent.click(await screen.findByRole('option', { name: /Copy API key/ }));
  expect(copied).toBe('bk_1');
  clipboard.mockRestore();
});

test('what was typed before it was there stands in its box', async () => {
  keepKeys('', () => {});
  await userEvent.keyboard('dark');
  await search(200, { results: [], similar: false }, ' th');
  expect(screen.getByRole<HTMLInputElement>('combobox').value).toBe('dark th');
  expect(screen.getByRole('option', { name: 'Use the dark theme' })).toBeTruthy();
});

test('Enter that was pressed before it was there performs the first result once there is one', async () => {
  keepKeys('', () => {});
  await userEvent.keyboard('deploy rye{Enter}');
  let answer = (_response: Response) => {};
  await type('{Shift}', (words) =>
    words === 'rye'
      ? new Promise((resolve) => {
          answer = resolve;
        })
      : Promise.resolve(Response.json({ results: [], similar: false })),
  );
  await vi.waitFor(() => expect(JSON.stringify(vi.mocked(fetch).mock.calls)).toContain('query=rye'));
  navigate.mockClear();
  answer(Response.json({ results: [model('k', 'Rye painter', 'image')], similar: false }));
  await vi.waitFor(() =>
    expect(navigate).toHaveBeenCalledExactlyOnceWith({
      to: '/my-deployments/images',
      search: { deploy: 'k' },
    }),
  );
});

test.each([
  ['flux', 'FLUX.1 Generates pictures', '/flux'],
  ['paris', 'Paris Generates pictures', '/paris'],
  ['bytedance', 'Seedance 1.0 Pro Generates videos', '/seedance'],
  ['deploy', 'Deploy Models', '/my-deployments'],
])('%s leads to its page', async (typed, name, to) => {
  await search(200, { results: [], similar: false }, typed);
  await userEvent.click(await screen.findByRole('option', { name }));
  expect(navigate).toHaveBeenCalledWith({ to });
});

test('who names what serves models is asked which one to deploy', async () => {
  await search(200, { results: [], similar: false }, 'vllm');
  await userEvent.click(await screen.findByRole('option', { name: 'Deploy a text model' }));
  expect(await screen.findByRole('dialog', { name: 'Deploy a model' })).toBeTruthy();
});

test('a picture is found by its prompt, shown beside it, and opened', async () => {
  pictures = [generationOf({ id: 'g7', prompt: 'A loaf of\nrye bread' })];
  await search(200, { results: [], similar: false }, 'rye');
  const option = await screen.findByRole('option', { name: 'A loaf of rye bread' });
  expect(option.querySelector('img')).toBeTruthy();
  await userEvent.click(option);
  expect(navigate).toHaveBeenCalledWith({ to: '/gallery/$id', params: { id: 'g7' } });
});
