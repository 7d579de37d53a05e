import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { Dialog } from './dialog.tsx';

const onOpenChange = vi.fn<(open: boolean) => void>();

async function open(keepOpen: boolean) {
  render(
    <Dialog open onOpenChange={onOpenChange} title="Copy the new key now" keepOpen={keepOpen}>
      bh_secret
    </Dialog>,
  );
  await screen.findByText('bh_secret');
  const clickBeside = async () => {
    const backdrop = document.querySelector('.dialog-backdrop');
    if (backdrop) await userEvent.click(backdrop);
  };
  return { clickBeside };
}

beforeEach(() => {
  cleanup();
  onOpenChange.mockReset();
});

test('Escape closes it, and so does a click beside it', async () => {
  const { clickBeside } = await open(false);
  await userEvent.keyboard('{Escape}');
  expect(onOpenChange).toHaveBeenCalledTimes(1);
  await clickBeside();
  expect(onOpenChange).toHaveBeenCalledTimes(2);
});

test('what is shown once is closed by a button alone', async () => {
  const { clickBeside } = await open(true);
  await userEvent.keyboard('{Escape}');
  await clickBeside();
  expect(onOpenChange).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(onOpenChange).toHaveBeenCalledWith(false);
});

test('what was typed is not thrown away without asking', async () => {
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
