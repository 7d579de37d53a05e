import { QueryClientProvider } from '@tanstack/react-query';
import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { notify } from '../../ui/notify.ts';
import { ContactSheet } from './contact-sheet.tsx';

vi.mock('../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1', email: 'ada@example.com' }) }));
vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const onClose = vi.fn<() => void>();
beforeEach(() => {
  vi.clearAllMocks();
  render(
    <QueryClientProvider client={queryClient}>
      <ContactSheet open onClose={onClose} />
    </QueryClientProvider>,
  );
});

function write(subject: string, message: string): void {
  fireEvent.change(screen.getByLabelText('Subject'), { target: { value: subject } });
  fireEvent.change(screen.getByLabelText('Message'), { target: { value: message } });
  fireEvent.click(screen.getByRole('button', { name: 'Send' }));
}

it('sends the message, confirms it and closes', async () => {
  const notified = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  vi.mocked(call).mockResolvedValue({ message_id: 'm1' });
  write('Dough', 'It does not rise.');
  await waitFor(() => expect(onClose).toHaveBeenCalled());
  expect(notified).toHaveBeenCalledWith('Your message has been sent successfully!');
  expect(vi.mocked(call).mock.calls[0]?.[1]).toEqual({
    body: { user_id: 'u1', subject: 'Dough', message: 'It does not rise.' },
  });
});

it('a message that is closed while sending is confirmed later, and then closes nothing', async () => {
  const notified = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  let arrive: (answer: { message_id: string }) => void = () => {};
  vi.mocked(call).mockReturnValue(new Promise((resolve) => (arrive = resolve)));
  write('Dough', 'It does not rise.');
  await waitFor(() => expect(call).toHaveBeenCalled());
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(onClose).toHaveBeenCalledOnce();
  fireEvent.change(screen.getByLabelText('Subject'), { target: { value: 'Crumb' } });
  await act(async () => arrive({ message_id: 'm1' }));
  await waitFor(() => expect(notified).toHaveBeenCalledWith('Your message has been sent successfully!'));
  expect(onClose).toHaveBeenCalledOnce();
  expect(screen.getByDisplayValue('Crumb')).toBeTruthy();
});

it('shows what is missing, and sends nothing', async () => {
  write('', ' ');
  expect(await screen.findByText('Subject is required')).toBeTruthy();
  expect(screen.getByText('Message is required')).toBeTruthy();
  expect(call).not.toHaveBeenCalled();
});

it('keeps the text if sending fails', async () => {
  vi.mocked(call).mockRejectedValue(
    new ApiError('Failed to send your message', { status: 500, code: 'internal' }),
  );
  write('Dough', 'It does not rise.');
  await waitFor(() => expect(call).toHaveBeenCalled());
  expect(onClose).not.toHaveBeenCalled();
  expect(screen.getByDisplayValue('It does not rise.')).toBeTruthy();

  fireEvent.click(screen.getByRole('button', { name: 'Send' }));
  await waitFor(() => expect(call).toHaveBeenCalledTimes(2));
  const [first, second] = vi.mocked(call).mock.calls.map(([, , options]) => options?.idempotencyKey);
  expect(first).toBeTruthy();
  expect(second).toBe(first);
});
