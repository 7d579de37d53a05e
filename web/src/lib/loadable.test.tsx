import { act, render, screen } from '@testing-library/react';
import { type ReactNode, Suspense } from 'react';
import { expect, test, vi } from 'vitest';
import { Boundary, EmptyFallback } from '../ui/boundary.tsx';
import { checkServer } from './live/online.ts';
import { loadable } from './loadable.tsx';

const Page = () => <p>The page</p>;
const lost = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'));

/** Suspended content only resumes inside an awaited `act`. */
const show = (node: ReactNode) => act(async () => void render(node));

test('retries a chunk that fails once, and shows it', async () => {
  const load = vi.fn(async () => Page).mockImplementationOnce(lost);
  const Loaded = loadable(load);
  await show(
    <Suspense>
      <Loaded />
    </Suspense>,
  );
  expect(await screen.findByText('The page')).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(2);
});

test('a chunk that fails to load does not affect other parts and is retried when the server is back', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const answer = vi.fn<typeof fetch>();
  vi.stubGlobal('fetch', answer);
  answer.mockRejectedValueOnce(new TypeError('Failed to fetch'));
  await checkServer();

  const load = vi.fn(async () => Page).mockImplementationOnce(lost);
  const Loaded = loadable(load);
  await show(
    <>
      <p>The shell</p>
      <Boundary fallback={EmptyFallback}>
        <Suspense fallback="Loading">
          <Loaded />
        </Suspense>
      </Boundary>
    </>,
  );
  await vi.waitFor(() => expect(screen.queryByText('Loading')).toBeNull());
  expect(screen.getByText('The shell')).toBeTruthy();
  // No retry while offline.
  expect(load).toHaveBeenCalledTimes(1);

  answer.mockResolvedValueOnce(new Response(null));
  await checkServer();
  expect(await screen.findByText('The page')).toBeTruthy();
  vi.unstubAllGlobals();
});
