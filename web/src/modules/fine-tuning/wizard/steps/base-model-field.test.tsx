import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { initialState } from '../wizard-state.ts';
import { BaseModelField } from './base-model-field.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../../../machines/machine-queries.ts', () => ({ useMachine: () => ({ data: undefined }) }));

const model = (title: string, values = {}) => ({
  ...{ dataset_id: title, title, file_count: 2, size_bytes: 1, is_starter: false, starter_task: null },
  ...{ pipeline: null, parent_dataset_id: null, is_whole: false, ...values },
});

it('offers whole text models, but no image or embedding models, adapters or models without files', async () => {
  const datasets = [
    model('Image model', { pipeline: 'FluxPipeline' }),
    model('Embedding model', { is_starter: true, starter_task: 'embedding' }),
    model('Adapter', { parent_dataset_id: 'Text model' }),
    model('Full fine-tune', { parent_dataset_id: 'Text model', is_whole: true }),
    model('Empty model', { file_count: 0 }),
    model('Text model'),
    model('Another text model'),
  ];
  vi.mocked(call).mockResolvedValue({ datasets, next_cursor: null });
  const state = { ...initialState, type: 'finetune' } as const;
  render(
    <QueryClientProvider client={queryClient}>
      <BaseModelField wizard={{ state, problems: {}, dispatch: () => {} }} />
    </QueryClientProvider>,
  );
  await userEvent.click(screen.getByRole('combobox', { name: 'Base model' }));
  await screen.findByRole('option', { name: /^Text model/ });
  const titles = screen.getAllByRole('option').map(({ textContent }) => textContent);
  expect(titles).toEqual([
    expect.stringMatching(/^Full fine-tune/),
    expect.stringMatching(/^Text model/),
    expect.stringMatching(/^Another text model/),
  ]);
});
