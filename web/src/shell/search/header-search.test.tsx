import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { HeaderSearch } from './header-search.tsx';

/** Whether the search box's code can be loaded. */
const code = vi.hoisted(() => ({ isThere: false }));
vi.mock('./search-box.tsx', () => ({
  get SearchBox() {
    if (!code.isThere) throw new TypeError('Failed to fetch dynamically imported module');
    return ({ typed }: { typed: string }) => <p>The box with {typed}</p>;
  },
}));
// Offline, loading fails immediately.
vi.mock('../../lib/live/online.ts', async (original) => ({
  ...(await original<object>()),
  isOnline: () => false,
}));
vi.mock('../../lib/when-idle.ts', () => ({ whenIdle: () => () => {} }));

test('if the search box fails to load, the input keeps its text and focus, and loading is retried', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  render(<HeaderSearch signedIn onOpenPalette={() => undefined} />);
  const input = screen.getByRole('textbox');
  await act(() => userEvent.type(input, 'rye'));
  expect(document.activeElement).toBe(input);
  expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('rye');
  code.isThere = true;
  await act(() => userEvent.hover(input));
  expect(await screen.findByText('The box with rye')).toBeTruthy();
});
