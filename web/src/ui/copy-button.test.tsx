import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { CopyButton } from './copy-button.tsx';

test('copies over plain http, which has no clipboard API', async () => {
  vi.spyOn(navigator, 'clipboard', 'get').mockReturnValue(undefined as never);
  let copied = '';
  Object.assign(document, {
    execCommand: () => {
      copied = (document.activeElement as HTMLTextAreaElement).value;
      return true;
    },
  });
  render(<CopyButton text="bk_1" label="Copy the API key" withText />);
  const button = screen.getByRole('button', { name: 'Copy the API key' });
  await userEvent.click(button);
  await screen.findByText('Copied');
  expect(copied).toBe('bk_1');
  expect(document.activeElement).toBe(button);
});
