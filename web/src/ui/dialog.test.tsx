import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { Dialog } from './dialog.tsx';
import { RadioCards } from './radio-cards.tsx';

const onOpenChange = vi.fn<(open: boolean) => void>();

async function open(keepOpen: boolean) {
  render(
    <Dialog open onOpenChange={onOpenChange} title="Copy the new key now" keepOpen={keepOpen}>
      bh_secret
    </Dialog>,
  );
  await screen.findByText('bh_secret');
  const clickOutside = async () => {
    const backdrop = document.querySelector('.dialog-backdrop');
    if (backdrop) await userEvent.click(backdrop);
  };
  return { clickOutside };
}

beforeEach(() => {
  cleanup();
  onOpenChange.mockReset();
});

const focused = () =>
  document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent;

test('focuses the first field, else the first button, but not Close', async () => {
  const footer = <button type="button">Cancel</button>;
  const dialog = (content: ReactNode) => (
    <Dialog open onOpenChange={onOpenChange} title="Edit" footer={footer}>
      {content}
    </Dialog>
  );
  render(dialog(<input aria-label="Name" />));
  await vi.waitFor(() => expect(focused()).toBe('Name'));
  cleanup();
  const options = ['rye', 'spelt'].map((value) => ({ value, label: value }));
  render(dialog(<RadioCards aria-label="Flour" value="spelt" onChange={vi.fn()} options={options} />));
  // The selected radio card.
  await vi.waitFor(() => expect(focused()).toBe('spelt'));
  cleanup();
  render(dialog('Your key is ready'));
  await vi.waitFor(() => expect(focused()).toBe('Cancel'));
});

test('Escape and clicks outside close the dialog', async () => {
  const { clickOutside } = await open(false);
  await userEvent.keyboard('{Escape}');
  expect(onOpenChange).toHaveBeenCalledTimes(1);
  await clickOutside();
  expect(onOpenChange).toHaveBeenCalledTimes(2);
});

test('a one-time secret can only be dismissed with a button', async () => {
  const { clickOutside } = await open(true);
  await userEvent.keyboard('{Escape}');
  await clickOutside();
  expect(onOpenChange).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(onOpenChange).toHaveBeenCalledWith(false);
});

test('asks before discarding typed text', async () => {
  render(
    <Dialog open onOpenChange={onOpenChange} title="Edit" dirty>
      <input aria-label="Name" />
    </Dialog>,
  );
  await screen.findByLabelText('Name');
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Keep editing' }));
  expect(onOpenChange).not.toHaveBeenCalled();
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Discard' }));
  expect(onOpenChange).toHaveBeenCalledWith(false);
});
