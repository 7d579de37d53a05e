import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { endOfDay } from '../../../lib/format/format-time.ts';
import { CreateCodesCard } from './create-codes-card.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

const day = () => screen.getByLabelText<HTMLInputElement>('Last day');
const submit = () => userEvent.click(screen.getByRole('button', { name: 'Create codes' }));
const body = () => (vi.mocked(call).mock.calls[0]?.[1] as { body: unknown } | undefined)?.body;

beforeEach(async () => {
  cleanup();
  vi.mocked(call)
    .mockReset()
    .mockResolvedValue({ codes: ['ABCD'] });
  render(
    <QueryClientProvider client={queryClient}>
      <CreateCodesCard />
    </QueryClientProvider>,
  );
  await userEvent.type(screen.getByLabelText('Value of each code'), '2');
});

const asked = { amount: '50', count: 1, redemptions_max: 1, note: '' };

test('codes are valid until the end of their last day', async () => {
  fireEvent.change(day(), { target: { value: '2001-01-01' } });
  await submit();
  expect(screen.getByText('Choose today or a later day')).toBeTruthy();
  expect(body()).toBeUndefined();

  fireEvent.change(day(), { target: { value: '2099-12-31' } });
  await submit();
  expect(await screen.findByText('ABCD')).toBeTruthy();
  expect(body()).toEqual({ ...asked, expires_at: endOfDay('2099-12-31').toISOString() });
});

test('codes without a last day do not expire', async () => {
  await submit();
  expect(await screen.findByText('ABCD')).toBeTruthy();
  expect(body()).toEqual({ ...asked, expires_at: null });
  // Escape does not close it, because the codes are not shown again.
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Done' }));
  await vi.waitFor(() => expect(screen.queryByText('ABCD')).toBeNull());
});

test('rejects an incomplete date instead of ignoring it', async () => {
  vi.spyOn(day(), 'validity', 'get').mockReturnValue({ badInput: true } as ValidityState);
  await submit();
  expect(screen.getByText('Enter a complete date, or leave it empty')).toBeTruthy();
  expect(body()).toBeUndefined();
});

test('does not truncate an amount, which would change it', async () => {
  const amount = screen.getByLabelText<HTMLInputElement>('Value of each code');
  await userEvent.click(amount);
  await userEvent.paste('0'.repeat(30));
  expect(amount.value).toHaveLength(31);
  await submit();
  expect(await screen.findByText(/^Amount must be less than/)).toBeTruthy();
  expect(body()).toBeUndefined();
});
