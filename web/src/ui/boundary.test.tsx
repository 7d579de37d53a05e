import { render, screen } from '@testing-library/react';
import { lazy } from 'react';
import { expect, test, vi } from 'vitest';
import { EmptyFallback, LazyPart } from './boundary.tsx';
import { notify } from './notify.ts';

vi.mock('../lib/error-reports/report-error.ts');

const failing = () =>
  lazy(() => Promise.reject(new TypeError('Failed to fetch dynamically imported module: part.js')));

test('a part that fails to load offers to reload', async () => {
  const Part = failing();
  render(
    <LazyPart>
      <Part />
    </LazyPart>,
  );
  expect(await screen.findByText('This part of the page could not be loaded')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Reload' })).toBeTruthy();
});

test('a part without a place for an error message offers to reload in a toast', async () => {
  const warn = vi.spyOn(notify, 'warning');
  const Part = failing();
  const { container } = render(
    <LazyPart fallback={EmptyFallback}>
      <Part />
    </LazyPart>,
  );
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
  expect(warn.mock.calls[0]?.[1]?.action?.label).toBe('Reload');
  expect(container.textContent).toBe('');
});
