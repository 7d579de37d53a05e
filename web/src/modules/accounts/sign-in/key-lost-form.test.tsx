import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { KeyLostForm } from './key-lost-form.tsx';
import { replaceLostKey } from './sign-in-calls.ts';

vi.mock('./sign-in-calls.ts', () => ({ replaceLostKey: vi.fn<typeof replaceLostKey>() }));

test('explains the lost key and creates a new one', async () => {
  const onDone = vi.fn<() => Promise<void>>();
  render(
    <QueryClientProvider client={queryClient}>
      <KeyLostForm onDone={onDone} />
    </QueryClientProvider>,
  );
  expect(screen.getByText(/can no longer show your API key/)).toBeTruthy();
  const button = screen.getByRole('button', { name: 'Create a new key' });

  vi.mocked(replaceLostKey).mockRejectedValueOnce(new ApiError('Sign in first', { status: 401 }));
  await userEvent.click(button);
  expect(await screen.findByText('Sign in first')).toBeTruthy();
  expect(onDone).not.toHaveBeenCalled();

  vi.mocked(replaceLostKey).mockResolvedValueOnce();
  await userEvent.click(button);
  await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce());
});
