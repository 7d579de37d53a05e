import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { HeaderSearch } from './header-search.tsx';

/** Whether the code of the box can be fetched. */
const code = vi.hoisted(() => ({ isThere: false }));
vi.mock('./search-box.tsx', () => ({
  get SearchBox() {
    if (!code.isThere) throw new TypeError('Failed to fetch dynamically imported module');
    return ({ typed }: { typed: string }) => <p>The box with {typed}</p>;
  },
}));
// Nobody is there to give it: that fails at once.
vi.mock('../../lib/live/online.ts', async (original) => ({
  ...(await original<object>()),
  isOnline: () => false,
}));
vi.mock('../../lib/when-idle.ts', () => ({ whenIdle: () => () => {} }));

test('where the code of the box cannot be fetched, what is typed stays with the focus, and it is tried again', async () => {
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
