import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactElement } from 'react';
import { expect, test, vi } from 'vitest';
import { loadable } from '../lib/loadable.tsx';
import { DeferredPopup } from './deferred-popup.tsx';
import { notify } from './notify.ts';

vi.mock('../lib/live/online.ts', async (original) => ({
  ...(await original<object>()),
  isOnline: () => false,
}));

function Popup({ trigger }: { trigger: ReactElement }) {
  return (
    <>
      {trigger}
      <p>The list</p>
    </>
  );
}

const ring = vi.fn<() => void>();

function show(load: () => Promise<typeof Popup>) {
  const Loaded = loadable(load);
  render(
    <>
      <DeferredPopup
        kind="dialog"
        trigger={
          <button type="button" onClick={ring}>
            Bell
          </button>
        }
        code={Loaded}
        popup={(trigger) => <Loaded trigger={trigger} />}
      />
      <input aria-label="Prompt" />
    </>,
  );
}

const bell = () => screen.getByRole('button', { name: 'Bell' });

test('the button keeps the focus until its popup loads', async () => {
  const code = Promise.withResolvers<typeof Popup>();
  show(() => code.promise);
  await userEvent.tab();
  const before = bell();
  await act(() => userEvent.keyboard('{Enter}'));
  expect(bell()).toBe(before);
  expect(document.activeElement).toBe(before);
  expect(before.getAttribute('aria-busy')).toBe('true');
  expect(ring).toHaveBeenCalledOnce();
  await act(async () => code.resolve(Popup));
  expect(await screen.findByText('The list')).toBeTruthy();
});

test('reports a popup that fails to load and allows a retry', async () => {
  const failure = vi.spyOn(notify, 'failure').mockImplementation(() => undefined);
  let isThere = false;
  show(async () => {
    if (!isThere) throw new TypeError('Failed to fetch dynamically imported module');
    return Popup;
  });
  await act(() => userEvent.click(bell()));
  await vi.waitFor(() => expect(failure).toHaveBeenCalledOnce());
  expect(bell().getAttribute('aria-haspopup')).toBe('dialog');
  expect(bell().getAttribute('aria-busy')).toBeNull();
  expect(document.activeElement).toBe(bell());
  isThere = true;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(screen.queryByText('The list')).toBeNull();
  await act(() => userEvent.click(bell()));
  expect(await screen.findByText('The list')).toBeTruthy();
});

test.for([
  { what: 'presses Escape', leave: () => userEvent.keyboard('{Escape}'), focused: 'Bell' },
  {
    what: 'moves on',
    leave: () => userEvent.click(screen.getByLabelText('Prompt')),
    focused: 'Prompt',
  },
])('does not open the popup if the user $what before it loads', async ({ leave, focused }) => {
  const code = Promise.withResolvers<typeof Popup>();
  show(() => code.promise);
  await act(() => userEvent.click(bell()));
  await act(async () => void (await leave()));
  await act(async () => code.resolve(Popup));
  expect(screen.queryByText('The list')).toBeNull();
  expect(bell().getAttribute('aria-busy')).toBeNull();
  const field = document.activeElement;
  expect(field?.getAttribute('aria-label') ?? field?.textContent).toBe(focused);
});
