import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { generationOf } from '../../modules/gallery/testing/generation-of.ts';
import { CommandPalette } from './command-palette.tsx';

const navigate = vi.hoisted(() => vi.fn<(to: object) => void>());
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useNavigate: () => navigate,
}));
vi.mock('../../modules/accounts/session.ts', async (original) => ({
  ...(await original<object>()),
  useUser: () => ({ id: 'u1', isOperator: false }),
}));

let flux: object[] = [];
/** Text from the search box. */
let begun = '';
let pictures: object[] = [];
/** Items that the server only finds by name, because they aren't on the first page. */
let named: { pods?: object[]; runs?: object[] } = {};
afterEach(() => {
  flux = [];
  begun = '';
  pictures = [];
  named = {};
  vi.unstubAllGlobals();
});

/** Types into a palette whose search returns this response; its other requests return nothing. */
function search(status: number, answer: unknown, typed: string): Promise<void> {
  return type(typed, async () => Response.json(answer, { status }));
}

function stubAnswers(answerTo: (words: string) => Promise<Response>): void {
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
}

async function type(typed: string, answerTo: (words: string) => Promise<Response>): Promise<void> {
  stubAnswers(answerTo);
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <CommandPalette begun={begun} onClose={() => {}} />
    </QueryClientProvider>,
  );
  await userEvent.type(screen.getByRole('combobox'), typed);
}

const model = (id: string, name: string) => ({ kind: 'model', id, name, tags: [] });

test('a failed search is not shown as an empty result', async () => {
  await search(503, { error: { code: 'unavailable', message: 'The database is away.' } }, 'zzz');
  expect((await screen.findByRole('alert')).textContent).toBe('The search failed: The database is away.');
  expect(screen.queryByText('Nothing matches')).toBeNull();
});

test('pages and actions are listed regardless', async () => {
  await search(503, { error: { code: 'unavailable', message: 'The database is away.' } }, 'dark');
  await screen.findByRole('alert');
  expect(screen.getByRole('option', { name: 'Use the dark theme' })).toBeTruthy();
});

test('a search without results is reported', async () => {
  await search(200, { results: [], similar: false }, 'zzz');
  await screen.findByText('Nothing matches');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('results for earlier text are shown only if they match the current text', async () => {
  const all = [model('k', 'Kontext starter'), model('s', 'SmolLM2-135M-Instruct')];
  const never = new Promise<Response>(() => undefined);
  await type('smol', (words) =>
    words === '' ? Promise.resolve(Response.json({ results: all, similar: false })) : never,
  );
  await screen.findByRole('option', { name: /SmolLM2-135M-Instruct/ });
  expect(screen.queryByRole('option', { name: /Kontext starter/ })).toBeNull();
});

test('finds a deployment of an image model', async () => {
  const deployed = { kind: 'flux', created_at: '2026-01-01T00:00:00Z', terminated_at: null };
  flux = [{ ...deployed, pod_id: 'p1', title: 'Rye Painter', model_name: 'rye-painter', status: 'READY' }];
  await search(200, { results: [], similar: false }, 'painter');
  await userEvent.click(await screen.findByRole('option', { name: 'Rye Painter rye-painter · sleeping' }));
  expect(navigate).toHaveBeenCalledWith({
    to: '/my-deployments/images/$podId',
    params: { podId: 'p1' },
  });
});

test('finds old runs and deployments on the server, after typing stops', async () => {
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

test('copies the API key over plain http, which has no clipboard API', async () => {
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

test('returns the focus before it runs a command, so that a sheet can return it later', async () => {
  let focused: Element | null = null;
  navigate.mockImplementationOnce(() => {
    focused = document.activeElement;
  });
  stubAnswers(async () => Response.json({ results: [], similar: false }));
  function Page() {
    const [isOpen, setOpen] = useState(false);
    return (
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <button type="button" onClick={() => setOpen(true)}>
          Open
        </button>
        {isOpen && <CommandPalette begun="" onClose={() => setOpen(false)} />}
      </QueryClientProvider>
    );
  }
  render(<Page />);
  const opener = screen.getByRole('button', { name: 'Open' });
  await userEvent.click(opener);
  await userEvent.type(screen.getByRole('combobox'), 'paris');
  await userEvent.click(await screen.findByRole('option', { name: 'Paris Generates pictures' }));
  await vi.waitFor(() => expect(focused).toBe(opener));
});

test('text typed in the search box is in its input', async () => {
  begun = 'dark';
  await search(200, { results: [], similar: false }, ' th');
  expect(screen.getByRole<HTMLInputElement>('combobox').value).toBe('dark th');
  expect(screen.getByRole('option', { name: 'Use the dark theme' })).toBeTruthy();
});

test.each([
  ['flux', 'FLUX.1 Generates pictures', '/flux'],
  ['paris', 'Paris Generates pictures', '/paris'],
  ['bytedance', 'Seedance 1.0 Pro Generates videos', '/seedance'],
  ['deploy', 'Deploy Models', '/my-deployments'],
  ['vllm', 'Deploy Models', '/my-deployments'],
  ['deploy kontext', 'Deploy picture and video models', '/my-deployments/images'],
])('%s opens its page', async (typed, name, to) => {
  await search(200, { results: [], similar: false }, typed);
  await userEvent.click(await screen.findByRole('option', { name }));
  expect(navigate).toHaveBeenCalledWith({ to });
});

test('does not treat a verb as a command', async () => {
  await search(200, { results: [], similar: false }, 'terminate sourdough');
  expect(await screen.findByText('Nothing matches')).toBeTruthy();
});

test('finds a picture by its prompt, shows a thumbnail and opens it', async () => {
  pictures = [generationOf({ id: 'g7', prompt: 'A loaf of\nrye bread' })];
  await search(200, { results: [], similar: false }, 'rye');
  const option = await screen.findByRole('option', { name: 'A loaf of rye bread' });
  expect(option.querySelector('img')).toBeTruthy();
  await userEvent.click(option);
  expect(navigate).toHaveBeenCalledWith({ to: '/gallery/$id', params: { id: 'g7' } });
});
