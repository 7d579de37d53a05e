import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { DeleteAccountDialog } from './delete-account-dialog.tsx';

const deletion = {
  owed: '0.0034',
  bought: '0',
  given: '0',
  datasets: 0,
  models: 0,
  running: 0,
  asks_password: true,
};
type Call = (endpoint: { method: string }, input: object) => object;
const answer = vi.hoisted(() => vi.fn<Call>());
vi.mock('../../../lib/api/api-client.ts', () => ({
  call: async (...args: Parameters<Call>) => answer(...args),
}));

afterEach(() => {
  queryClient.clear();
  answer.mockReset();
});

function open(preview: object) {
  answer.mockReturnValue({ ...deletion, ...preview });
  render(
    <QueryClientProvider client={queryClient}>
      <DeleteAccountDialog onClose={() => undefined} />
    </QueryClientProvider>,
  );
}

test('shows a small debt that blocks deletion with all its digits', async () => {
  open({});
  expect(await screen.findByText(/^You owe 0\.0034 BGL \(\$0\.00014\)\./)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Delete account' }).disabled).toBe(true);
});

test('a checkbox forfeits sendable credits, and promotional ones are announced as lost', async () => {
  open({ owed: '0', bought: '25', given: '125' });
  const name = 'Forfeit 25.00 BGL ($1.00) in credits';
  expect(await screen.findByRole('checkbox', { name, description: '' })).toBeTruthy();
  expect(screen.getByText('Credits that can be sent')).toBeTruthy();
  const lost = 'You will lose 125.00 BGL ($5.00) of promotional credits, which cannot be sent.';
  expect(screen.getByText(lost)).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Delete account' }));
  const description = 'Send them to someone first, or forfeit them';
  expect(await screen.findByRole('checkbox', { name, description })).toBeTruthy();
});

test('shows credits that arrived later, and requires consent for the new amount', async () => {
  open({ owed: '0', bought: '25', asks_password: false });
  await userEvent.click(await screen.findByRole('checkbox', { name: /^Forfeit 25\.00 BGL/ }));
  answer.mockImplementation(({ method }) => {
    if (method === 'GET') return { ...deletion, owed: '0', bought: '50', asks_password: false };
    const data = { template: '{sendable} can be sent now', amounts: { sendable: '50' } };
    throw new ApiError('50 BGL can be sent now', {
      ...{ status: 409, code: 'conflict', param: 'give_up_max', data },
    });
  });
  await userEvent.click(screen.getByRole('button', { name: 'Delete account' }));
  const box = await screen.findByRole<HTMLInputElement>('checkbox', { name: /^Forfeit 50\.00 BGL/ });
  expect(box.checked).toBe(false);
  expect(screen.getByRole('alert').textContent).toBe('$2.00 can be sent now');
  const deletions = () => answer.mock.calls.filter(([{ method }]) => method === 'POST');
  expect(deletions().map(([, input]) => input)).toEqual([{ body: { give_up_max: '25' } }]);
  await userEvent.click(screen.getByRole('button', { name: 'Delete account' }));
  expect(deletions()).toHaveLength(1);
  await userEvent.click(box);
  await userEvent.click(screen.getByRole('button', { name: 'Delete account' }));
  expect(deletions().at(-1)?.[1]).toEqual({ body: { give_up_max: '50' } });
});

test('lists only what exists and will be deleted', async () => {
  open({ owed: '0', datasets: 1, running: 2 });
  await screen.findByText('1 dataset will be deleted, files included.');
  expect(screen.getByText('2 running jobs will be stopped; usage until then is charged.')).toBeTruthy();
});

test('scrolls to an error above a form longer than the window', async () => {
  const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView');
  open({ owed: '0' });
  await userEvent.type(await screen.findByLabelText('Password'), 'wrong');
  answer.mockImplementation(() => {
    throw new ApiError('The password is wrong', { status: 403, param: 'password' });
  });
  await userEvent.click(screen.getByRole('button', { name: 'Delete account' }));
  expect((await screen.findByRole('alert')).textContent).toBe('The password is wrong');
  expect(scrolled).toHaveBeenCalledOnce();
});
