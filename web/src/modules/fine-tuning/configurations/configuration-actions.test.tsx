import type { Configuration } from '@bakehouse/contract/configurations';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { ConfigurationActions } from './configuration-actions.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn(() => new Promise(() => {})) }));

test('a pasted overlong name is not truncated, and the old name stays', async () => {
  const configuration = { config_id: 'c1', config_name: 'Rye', fine_tune_payload: {} } as Configuration;
  render(
    <QueryClientProvider client={queryClient}>
      <ConfigurationActions configuration={configuration} />
    </QueryClientProvider>,
  );
  await userEvent.click(screen.getByRole('button', { name: 'Rename' }));
  const field = screen.getByLabelText<HTMLInputElement>('New name');
  await userEvent.clear(field);
  await userEvent.paste('e'.repeat(101));
  await userEvent.keyboard('{Enter}');
  expect(field.value).toHaveLength(101);
  expect(screen.getByText('Name must have at most 100 characters')).toBeTruthy();
  expect(call).not.toHaveBeenCalled();
});
