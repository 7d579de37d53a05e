import { createAsset, getAsset, listAssets, previewFile } from '@bakehouse/contract/assets';
import { validateFineTune } from '@bakehouse/contract/fine-tuning';
import { getMachine } from '@bakehouse/contract/machines';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ComponentType } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { CreateModelSheet } from '../create-model-sheet.tsx';

const shown = vi.hoisted(() => ({ lack: null as string | null }));
vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  createLink:
    (Component: ComponentType<{ href: string }>) =>
    ({ to, ...props }: { to: string }) => <Component href={to} {...props} />,
}));
vi.mock('../use-lack-of-credit.ts', () => ({ useLackOfCredit: () => shown.lack }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));

const dataset = {
  dataset_id: 'd1',
  title: 'House facts',
  revision_id: 'r1',
  file_count: 1,
  size_bytes: 2_000,
  files: [{ path: 'facts.csv' }],
  next_files_cursor: null,
};
const base = {
  dataset_id: 'b1',
  title: 'Starter',
  is_starter: true,
  parent_dataset_id: null,
  starter_task: 'text',
  pipeline: null,
  file_count: 3,
  size_bytes: 270_000_000,
};
const format = {
  ...{ format: 'prompt_completion', input_column: 'q', output_column: 'a' },
  ...{ rejected_column: null, system_column: null },
};
const checked = {
  critical_errors: [] as string[],
  warnings: [],
  reading: null,
  placement: { device: 'cpu', description: '' },
  cost_estimate: {
    quote: { total: '0.25', items: [] },
    ceiling: '0.5',
    duration_hours: 8 / 60,
    slowdown: 1,
    load: null,
  },
  recommendations: { recommended_gpus: [] },
  data: {
    train_examples: 24,
    eval_examples: 6,
    rows_kept: 30,
    rows_dropped: 0,
    samples: [
      {
        turns: [],
        tokens: 4,
        rejected: null,
        label: null,
        reference: null,
        parts: [
          { text: 'Who bakes?', learnt: false },
          { text: 'Ada', learnt: true },
        ],
      },
    ],
  },
};

let bases: object[];
let preparations: object[];
let preview: object;
let validation: object | Error;
beforeEach(() => {
  queryClient.clear();
  shown.lack = null;
  bases = [base];
  preparations = [];
  preview = { columns: ['q', 'a'], total_rows: 30, format, format_problem: null };
  validation = checked;
  vi.mocked(call)
    .mockReset()
    .mockImplementation(async (endpoint: unknown, input?: object) => {
      if (endpoint === listAssets) return { datasets: bases, next_cursor: null, total: bases.length };
      if (endpoint === getAsset) {
        const { params } = input as { params: { id: string } };
        return params.id === 'd1' ? dataset : base;
      }
      if (endpoint === previewFile) return preview;
      if (endpoint === createAsset) return 'm1';
      if (endpoint === getMachine && preparations.length > 0) return { preparations };
      if (endpoint !== validateFineTune) return new Promise(() => undefined);
      if (validation instanceof Error) throw validation;
      return validation;
    });
});

const show = () =>
  render(
    <QueryClientProvider client={queryClient}>
      <CreateModelSheet open dataset="d1" settings="suggested" onClose={() => undefined} />
    </QueryClientProvider>,
  );
const sentence = () =>
  screen.findByText('30 examples, about 8 min on this CPU, about $0.01, never more than $0.02.');
const startButton = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Start' });
const sent = (endpoint: unknown) =>
  vi
    .mocked(call)
    .mock.calls.filter(([called]) => called === endpoint)
    .map(([, input]) => (input as { body: Record<string, unknown> }).body);

it('is filled in, shows the cost and an example, and starts with the suggested settings', async () => {
  show();
  await sentence();
  expect(screen.getByLabelText<HTMLInputElement>('Model name').value).toBe('House facts model');
  expect(screen.getByRole<HTMLInputElement>('combobox', { name: 'Base model' }).value).toBe('Starter');
  expect(screen.getByText('Ada').tagName).toBe('MARK');
  // Renaming doesn't invalidate the estimate.
  await userEvent.type(screen.getByLabelText('Model name'), ' two');
  await sentence();
  await userEvent.click(startButton());
  await screen.findByText('Your model is fine-tuning!');
  expect(sent(validateFineTune)).toHaveLength(1);
  const [body] = sent(createAsset);
  expect(body).toMatchObject({ title: 'House facts model two' });
  expect(body?.fine_tune_payload).toMatchObject({
    asset_id: 'd1',
    base_model: 'b1',
    file_name: 'facts.csv',
    epochs: 10,
    input_column: 'q',
    output_column: 'a',
    cost_max: '0.25',
  });
  expect(body?.fine_tune_payload).not.toHaveProperty('ceiling');
});

it('prefers the better answers of preferences, and shows one row with both', async () => {
  const columns = { input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected' };
  preview = { ...preview, format: { ...columns, format: 'preference', system_column: null } };
  const parts = (text: string) => [
    { text: 'Where is my loaf?', learnt: false },
    { text, learnt: true },
  ];
  const pair = {
    turns: [],
    tokens: 4,
    parts: parts('On its way.'),
    rejected: { parts: parts('No idea.'), turns: [] },
  };
  validation = { ...checked, data: { ...checked.data, samples: [pair] } };
  show();
  await sentence();
  expect(screen.getByText('The model learns to prefer the better answers (DPO).')).toBeTruthy();
  expect(screen.getAllByText('Where is my loaf?')).toHaveLength(1);
  expect(screen.getByRole('group', { name: 'Better answer' }).textContent).toContain('On its way.');
  expect(screen.getByRole('group', { name: 'Worse answer' }).textContent).toContain('No idea.');
  const [body] = sent(validateFineTune);
  expect(body).toMatchObject({ ...columns, data_format: 'preference', objective: 'dpo', beta: 0.1 });
  expect(body).toMatchObject({ learning_rate: 0.00005, epochs: 10 });
  await userEvent.click(screen.getByRole('button', { name: 'All settings' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Objective' }));
  expect(screen.getByLabelText<HTMLInputElement>('Beta').value).toBe('0.1');
  await userEvent.click(screen.getByRole('combobox', { name: 'Objective' }));
  await userEvent.click(await screen.findByRole('option', { name: 'Learn the answers' }));
  expect(screen.queryByLabelText('Beta')).toBeNull();
  // The suggested preset stays selected, with its values for the other objective.
  expect(screen.getByRole('button', { name: 'Suggested', pressed: true })).toBeTruthy();
  expect(screen.getByLabelText<HTMLInputElement>('Learning rate').value).toBe('0.001');
});

it('opens the wizard with the same values', async () => {
  show();
  await sentence();
  await userEvent.click(screen.getByRole('button', { name: 'All settings' }));
  expect(await screen.findByRole('button', { name: 'Suggested', pressed: true })).toBeTruthy();
  expect(screen.getByLabelText<HTMLInputElement>('Epochs').value).toBe('10');
  await userEvent.click(screen.getByRole('button', { name: 'Back' }));
  await userEvent.click(screen.getByRole('button', { name: 'Back' }));
  expect(screen.getByLabelText<HTMLInputElement>('Model name').value).toBe('House facts model');
});

it('asks for undetected columns before requesting a price', async () => {
  preview = { ...preview, format: null };
  show();
  await screen.findByText('The columns were not recognized');
  expect(screen.getByRole('combobox', { name: 'Output column' })).toBeTruthy();
  expect(sent(validateFineTune)).toHaveLength(0);
  expect(startButton().disabled).toBe(true);
});

it('reports that there is no base model, and links to add one', async () => {
  bases = [];
  show();
  await screen.findByText('No base model here yet');
  expect(screen.getByRole('link', { name: 'Add a model' }).getAttribute('href')).toBe('/model');
  expect(startButton().disabled).toBe(true);
});

it('reports that the starter model is being prepared, and suggests adding a model only if that failed', async () => {
  bases = [];
  const starter = { id: 'starter-language-model', detail: 'Storing the files' };
  preparations = [{ ...starter, state: 'running' }];
  const { unmount } = show();
  await screen.findByText('The starter model is being prepared');
  expect(screen.getByText('Storing the files. You can start as soon as it is ready.')).toBeTruthy();
  expect(screen.queryByText('No base model here yet')).toBeNull();
  unmount();
  queryClient.clear();
  preparations = [{ ...starter, state: 'failed' }];
  show();
  await screen.findByText('No base model here yet');
});

it('warns about few rows, but allows training', async () => {
  validation = { ...checked, data: { ...checked.data, rows_kept: 3 } };
  show();
  await screen.findByText('Only 3 rows to learn from');
  expect(screen.getByRole('link', { name: 'Open the dataset' })).toBeTruthy();
  expect(startButton().disabled).toBe(false);
});

it('shows why the run cannot start', async () => {
  validation = { ...checked, critical_errors: ['None of the rows can be used'] };
  show();
  await screen.findByText('None of the rows can be used');
  expect(screen.getByRole('link', { name: 'Open the dataset' })).toBeTruthy();
  expect(startButton().disabled).toBe(true);
});

it('reports insufficient credit, with a link to add credits', async () => {
  shown.lack = 'Insufficient balance. Required: $0.01. Available: $0.00.';
  show();
  await screen.findByText(shown.lack);
  expect(screen.getByRole('link', { name: 'Purchase Fine-tune Credits' })).toBeTruthy();
  expect(startButton().disabled).toBe(true);
});

it('reports an unknown price, and retries', async () => {
  validation = new ApiError('The server is restarting', { status: 503 });
  show();
  await screen.findByText('The price could not be loaded');
  expect(startButton().disabled).toBe(true);
  validation = checked;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await sentence();
});
