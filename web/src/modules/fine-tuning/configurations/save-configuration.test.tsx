import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { initialParameters } from '../parameters/training-parameters.ts';
import { SaveConfiguration } from './save-configuration.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn(() => new Promise(() => {})) }));

beforeEach(() => {
  cleanup();
  vi.mocked(call).mockClear();
});

const renderForm = () =>
  render(
    <QueryClientProvider client={queryClient}>
      <SaveConfiguration
        choices={{
          type: 'finetune',
          name: '',
          baseModelId: null,
          hubModelId: '',
          datasetId: null,
          fileName: null,
          parameters: initialParameters,
        }}
      />
    </QueryClientProvider>,
  );

test('a pasted overlong name is not truncated and not saved', async () => {
  renderForm();
  const field = screen.getByLabelText<HTMLInputElement>('Template name');
  await userEvent.click(field);
  await userEvent.paste('e'.repeat(101));
  await userEvent.keyboard('{Enter}');
  expect(field.value).toHaveLength(101);
  expect(screen.getByText('Name must have at most 100 characters')).toBeTruthy();
  expect(call).not.toHaveBeenCalled();
});

test('Enter saves under the typed name, after IME composition ends', async () => {
  renderForm();
  const field = screen.getByLabelText('Template name');
  await userEvent.type(field, 'パン');
  fireEvent.keyDown(field, { key: 'Enter', isComposing: true });
  expect(call).not.toHaveBeenCalled();
  await userEvent.type(field, '{Enter}');
  expect(vi.mocked(call).mock.calls[0]?.[1]).toMatchObject({ body: { config_name: 'パン' } });
});
