import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ComponentProps } from 'react';
import { expect, test, vi } from 'vitest';
import { Sheet } from './sheet.tsx';

const onClose = vi.fn<() => void>();
const sheet = (dirty: ComponentProps<typeof Sheet>['dirty']) => (
  <Sheet open onClose={onClose} title="Create Dataset" dirty={dirty}>
    <input aria-label="Name" />
  </Sheet>
);

test('focuses the first field, not Close', async () => {
  render(sheet(false));
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Name')));
});

test('closes immediately if nothing was typed', async () => {
  onClose.mockReset();
  render(sheet(false));
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(onClose).toHaveBeenCalledOnce();
});

test('asks first if something was typed', async () => {
  onClose.mockReset();
  render(sheet(true));
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Keep editing' }));
  expect(onClose).not.toHaveBeenCalled();
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Discard' }));
  expect(onClose).toHaveBeenCalledOnce();
});

test('shows the question of the moment of closing, even if nothing is unsaved by then', async () => {
  onClose.mockReset();
  const { rerender } = render(
    sheet({ title: 'Close while the files are being sent?', description: 'They are.', action: 'Leave' }),
  );
  await userEvent.keyboard('{Escape}');
  await screen.findByText('Close while the files are being sent?');
  rerender(sheet(false));
  expect(screen.queryByText('Discard what you entered?')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Leave' }));
  expect(onClose).toHaveBeenCalledOnce();
});
