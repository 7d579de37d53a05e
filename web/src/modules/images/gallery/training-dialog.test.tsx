import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { TrainingDialog } from './training-dialog.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn(() => new Promise(() => {})) }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => () => undefined,
}));

test('a pasted name that is too long is kept whole, and no dataset is made', async () => {
  render(
    <QueryClientProvider client={queryClient}>
      <TrainingDialog ids={['g1']} onClose={() => undefined} onAdded={() => undefined} />
    </QueryClientProvider>,
  );
  const field = screen.getByLabelText<HTMLInputElement>('Name');
  await userEvent.clear(field);
  await userEvent.click(field);
  await userEvent.paste('e'.repeat(201));
  await userEvent.click(screen.getByRole('button', { name: 'Add pictures' }));
  expect(field.value).toHaveLength(201);
  expect(await screen.findByText('Name must have at most 200 characters')).toBeTruthy();
  expect(call).not.toHaveBeenCalled();
});
