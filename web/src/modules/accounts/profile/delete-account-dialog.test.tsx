import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
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
vi.mock('../../../lib/api/api-client.ts', () => ({ call: () => Promise.resolve(deletion) }));

test('a small debt that stands in the way is told with its digits', async () => {
  render(
    <QueryClientProvider client={queryClient}>
      <DeleteAccountDialog onClose={() => undefined} />
    </QueryClientProvider>,
  );
  expect(await screen.findByText(/^You owe 0\.0034 BGL \(\$0\.00014\)\./)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Delete account' }).disabled).toBe(true);
});
