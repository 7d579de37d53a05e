import { QueryClient } from '@tanstack/react-query';
import { beforeEach, expect, test, vi } from 'vitest';

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();

/** Simulates a freshly opened page. */
async function freshPage({ taken = true } = {}) {
  vi.resetModules();
  vi.stubGlobal('fetch', fetched);
  fetched.mockReset().mockImplementation(async () => Response.json({ taken }));
  // Preload, so that no test waits for it.
  await import('./send-error-report.ts');
  const { ApiError } = await import('../api/api-error.ts');
  return { ...(await import('./report-error.ts')), ApiError };
}
const bodies = () =>
  fetched.mock.calls.map(([, { body }]) => JSON.parse(body as string) as Record<string, string>);

const settle = () => new Promise((resolve) => setTimeout(resolve, 50));
/** Waits for exactly `count` reports. */
async function sent(count: number): Promise<void> {
  await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(count), 20_000);
  await settle();
  expect(fetched).toHaveBeenCalledTimes(count);
}

beforeEach(() => history.replaceState(null, '', '/dataset/1/description?tab=rows'));

test('reports an error once, with its page, truncated to the limits', async () => {
  const { reportError } = await freshPage();
  const error = new TypeError('x'.repeat(5_000));
  error.stack = 'y'.repeat(20_000);
  reportError(error, 'unhandled');
  reportError(error, 'unhandled');
  await sent(1);
  expect(fetched.mock.calls[0]?.[0]).toBe('/api/v1/error-reports');
  const [body] = bodies();
  expect(body).toMatchObject({ kind: 'unhandled', name: 'TypeError', path: '/dataset/1/description' });
  expect([body?.message?.length, body?.stack?.length]).toEqual([1_000, 8_000]);
});

test('limits the reports of a page that keeps failing', async () => {
  const { reportError } = await freshPage();
  for (let count = 0; count < 50; count += 1) reportError(new Error(`${count}`), 'unhandled');
  await sent(10);
  expect(bodies()).toHaveLength(10);
});

test('stops after the first report if the server wants none', async () => {
  const { reportError } = await freshPage({ taken: false });
  reportError(new Error('one'), 'unhandled');
  await sent(1);
  await settle();
  reportError(new Error('two'), 'unhandled');
  await settle();
  expect(fetched).toHaveBeenCalledOnce();
});

test('a report that cannot be sent is ignored', async () => {
  const { reportError } = await freshPage();
  fetched.mockRejectedValue(new TypeError('Failed to fetch'));
  expect(() => reportError(new Error('one'), 'unhandled')).not.toThrow();
  await sent(1);
});

test('times out a report after ten seconds', async () => {
  const { signal } = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(signal);
  const { reportError } = await freshPage();
  reportError(new Error('one'), 'unhandled');
  await sent(1);
  expect(timeout).toHaveBeenCalledWith(10_000);
  expect(fetched.mock.calls[0]?.[1].signal).toBe(signal);
  timeout.mockRestore();
});

test('reports failed dataset calls on server errors, and others only on non-API errors', async () => {
  const { reportErrors, ApiError } = await freshPage();
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  reportErrors(client);
  const fail = (family: string, error: Error) =>
    client
      .fetchQuery({ queryKey: [family, error.message], queryFn: () => Promise.reject(error) })
      .catch(() => null);
  const answered = (status: number, text: string) => new ApiError(text, { status });
  await fail('asset', answered(500, 'our fault'));
  await fail('asset', answered(404, 'not there'));
  await fail('asset', answered(0, 'away'));
  await fail('run', answered(500, 'of a run'));
  await fail('run', new TypeError('a bug'));
  await fail('run', new TypeError('Failed to fetch dynamically imported module: /assets/page.js'));
  await sent(2);
  expect(bodies().map(({ kind, message }) => [kind, message])).toEqual([
    ['dataset', 'our fault'],
    ['unhandled', 'a bug'],
  ]);
});

test('reports unhandled errors', async () => {
  const { reportErrors } = await freshPage();
  reportErrors(new QueryClient());
  dispatchEvent(new ErrorEvent('error', { error: new Error('uncaught') }));
  const rejection = Object.assign(new Event('unhandledrejection'), { reason: 'words' });
  dispatchEvent(rejection);
  await vi.waitFor(() => expect(bodies().some(({ message }) => message === 'Thrown string')).toBe(true));
  // Listeners of other tests' pages report too.
  expect(new Set(bodies().map(({ name, message }) => `${name}: ${message}`))).toEqual(
    new Set(['Error: uncaught', 'Error: Thrown string']),
  );
});
