import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { notify } from '../../../ui/notify.ts';
import { ChangePriceDialog } from './change-price-dialog.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
vi.spyOn(notify, 'success').mockReturnValue(undefined);

const price = { id: 'p1', label: 'One picture', unit: 'image', unit_price: '1', next: null } as never;
const onClose = vi.fn<() => void>();
const bodies = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([{ method }]) => method === 'POST')
    .map(([, input]) => input);

beforeEach(() => {
  currencyChoice.set('BGL');
  onClose.mockReset();
  vi.mocked(call).mockReset().mockResolvedValue({});
});

/** Types the new price and returns the confirmation dialog. */
async function ask(typed: string) {
  render(
    <QueryClientProvider client={queryClient}>
      <ChangePriceDialog price={price} onClose={onClose} />
    </QueryClientProvider>,
  );
  await userEvent.type(await screen.findByLabelText(/^New price/), typed);
  await userEvent.click(screen.getByRole('button', { name: 'Change the price' }));
  return within(await screen.findByRole('alertdialog', { name: 'Change the price of ‘One picture’?' }));
}

test('shows the old and the new price before anything changes', async () => {
  const question = await ask('10');
  expect(screen.getByRole('alertdialog').textContent).toContain(
    'From $0.04 = 1.00 BGL to $0.40 = 10.00 BGL per picture, effective immediately.',
  );
  expect(bodies()).toEqual([]);
  await userEvent.click(question.getByRole('button', { name: 'Change the price' }));
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledTimes(1));
  expect(bodies()).toEqual([{ body: { price_id: 'p1', unit_price: '10', valid_from: null } }]);
});

test('cancelling the confirmation keeps the form', async () => {
  const question = await ask('100');
  await userEvent.click(question.getByRole('button', { name: 'Cancel' }));
  await vi.waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
  expect(screen.getByLabelText<HTMLInputElement>(/^New price/).value).toBe('100');
  expect([bodies(), onClose.mock.calls]).toEqual([[], []]);
});

test('stays open while saving, and keeps the input on failure', async () => {
  const answer = Promise.withResolvers<unknown>();
  vi.mocked(call).mockReturnValue(answer.promise);
  const question = await ask('10');
  await userEvent.click(question.getByRole('button', { name: 'Change the price' }));
  await userEvent.keyboard('{Escape}');
  expect(screen.getByRole('alertdialog')).toBeTruthy();
  answer.reject(new Error('The server is busy'));
  await vi.waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
  expect(screen.getByLabelText<HTMLInputElement>(/^New price/).value).toBe('10');
  expect(onClose).not.toHaveBeenCalled();
});
