import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useShortcuts } from './use-shortcuts.ts';

const onPalette = vi.fn();
const onHelp = vi.fn();

function Page({ areOff = false }: { areOff?: boolean }) {
  useShortcuts({ onPalette, onHelp, areOff });
  return (
    <>
      <button type="button">On the page</button>
      <input aria-label="A field" />
      <div role="dialog" aria-label="A sheet">
        <button type="button">In the sheet</button>
      </div>
    </>
  );
}

test('? opens the shortcuts, but not while typing or over an open sheet', () => {
  render(<Page />);
  fireEvent.keyDown(screen.getByText('In the sheet'), { key: '?' });
  fireEvent.keyDown(screen.getByLabelText('A field'), { key: '?' });
  expect(onHelp).not.toHaveBeenCalled();
  fireEvent.keyDown(screen.getByText('On the page'), { key: '?' });
  expect(onHelp).toHaveBeenCalledOnce();
});

test('Ctrl+K opens the palette everywhere', () => {
  render(<Page />);
  for (const [index, place] of ['On the page', 'In the sheet'].entries()) {
    fireEvent.keyDown(screen.getByText(place), { key: 'k', ctrlKey: true });
    expect(onPalette).toHaveBeenCalledTimes(index + 1);
  }
});

test.each([{ key: '?' }, { key: '/' }, { key: 'k', ctrlKey: true }])(
  'if shortcuts are off, leaves $key to the browser',
  (press) => {
    render(<Page areOff />);
    const wasPrevented = !fireEvent.keyDown(screen.getByText('On the page'), press);
    expect(wasPrevented).toBe(false);
  },
);
