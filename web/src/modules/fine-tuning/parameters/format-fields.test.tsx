import type { filePreview } from '@bakehouse/contract/assets';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { useReducer } from 'react';
import { expect, it } from 'vitest';
import type * as z from 'zod';
import { previewQuery } from '../../datasets/asset-calls.ts';
import { assetQuery } from '../../datasets/asset-queries.ts';
import { initialState } from '../wizard/wizard-state.ts';
import { stepOf, wizardReducer } from '../wizard/wizard-steps.tsx';
import { FormatFields } from './format-fields.tsx';

type Format = z.output<typeof filePreview>['format'];

function Wizard() {
  const [state, dispatch] = useReducer(wizardReducer, {
    ...initialState,
    step: 'parameters',
    type: 'finetune',
    datasetId: 'set',
    fileName: 'rows.jsonl',
  });
  return (
    <FormatFields
      state={state}
      problems={stepOf(state).problems(state)}
      onChange={(values) => dispatch({ do: 'parameters', values })}
      onSuggest={(values) => dispatch({ do: 'suggest', values })}
    />
  );
}

function show(columns: string[], format: Format, format_problem: string | null = null) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(assetQuery('set').queryKey, { revision_id: 'first' } as never);
  const file = { assetId: 'set', revisionId: 'first', path: 'rows.jsonl', offset: 0 };
  client.setQueryData(previewQuery(file).queryKey, { columns, format, format_problem } as never);
  render(
    <QueryClientProvider client={client}>
      <Wizard />
    </QueryClientProvider>,
  );
}
const shown = (name: string) => screen.queryByRole('combobox', { name })?.textContent;

it('shows the detected format, and no column fields for formats without columns', () => {
  show(['messages'], {
    format: 'messages',
    input_column: 'messages',
    output_column: '',
    rejected_column: null,
    label_column: null,
    system_column: null,
  });
  expect(shown('Data format')).toContain('Messages');
  expect(screen.getByText(/Recognized from the file/)).toBeTruthy();
  expect(shown('Input column')).toBeUndefined();
  expect(shown('Text column')).toBeUndefined();
});

it("shows why a file's format was not detected, and what to do", () => {
  const problem = 'rows.jsonl holds preferences, which are not trained on: keep the good answer alone.';
  show(['chosen', 'rejected'], null, problem);
  expect(screen.getByText(problem)).toBeTruthy();
});

it('fills in the question and answer columns', () => {
  show(['q', 'prompt', 'response', 'system'], {
    format: 'prompt_completion',
    input_column: 'prompt',
    output_column: 'response',
    rejected_column: null,
    label_column: null,
    system_column: 'system',
  });
  expect([shown('Input column'), shown('Output column'), shown('System prompt column')]).toEqual([
    'prompt',
    'response',
    'system',
  ]);
});

it('shows the system prompt of other formats, so that it can be turned off', () => {
  show(['instruction', 'output', 'system'], {
    format: 'alpaca',
    input_column: '',
    output_column: '',
    rejected_column: null,
    label_column: null,
    system_column: 'system',
  });
  expect(shown('System prompt column')).toBe('system');
});

it('fills in the three preference columns; the question is optional', () => {
  show(['prompt', 'chosen', 'rejected'], {
    format: 'preference',
    ...{ input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected', label_column: null },
    system_column: null,
  });
  expect(shown('Data format')).toContain('Preferences');
  expect([shown('Input column'), shown('Output column'), shown('Rejected column')]).toEqual([
    'prompt',
    'chosen',
    'rejected',
  ]);
});

it('fills in the three feedback columns; the question is optional', () => {
  show(['chat', 'thumbs'], {
    format: 'feedback',
    ...{ input_column: '', output_column: 'chat', rejected_column: null, label_column: 'thumbs' },
    system_column: null,
  });
  expect(shown('Data format')).toContain('Feedback');
  expect([shown('Input column'), shown('Output column'), shown('Label column')]).toEqual([
    ...['None', 'chat', 'thumbs'],
  ]);
});

it('requires two columns if the format is not plain', () => {
  show(['one', 'two'], null);
  expect(shown('Data format')).toContain('Question and answer');
  expect(screen.getAllByText('Input and output columns are required for non-text files')).toHaveLength(2);
});
