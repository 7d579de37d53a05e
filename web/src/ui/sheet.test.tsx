import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Sheet } from './sheet.tsx';

const onClose = vi.fn<() => void>();
const sheet = (dirty: boolean) => (
  <Sheet open onClose={onClose} title="Create Dataset" dirty={dirty}>
    <input aria-label="Name" />
  </Sheet>
);

test('begins at its first field, not at Close', async () => {
  render(sheet(false));
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Name')));
});

test('closes at once when nothing was typed', async () => {
  onClose.mockReset();
  render(sheet(false));
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(onClose).toHaveBeenCalledOnce();
});

test('asks first when something was typed', async () => {
  onClose.mockReset();
  render(sheet(true));
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Keep editing' }));
  expect(onClose).not.toHaveBeenCalled();
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Discard' }));
  expect(onClose).toHaveBeenCalledOnce();
});
