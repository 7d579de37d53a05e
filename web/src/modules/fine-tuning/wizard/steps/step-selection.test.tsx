import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { useReducer } from 'react';
import { expect, it, vi } from 'vitest';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { initialState } from '../wizard-state.ts';
import { wizardReducer } from '../wizard-steps.tsx';
import { StepSelection } from './step-selection.tsx';

const dataset = { dataset_id: 'd1', file_count: 1, files: [{ path: 'a.csv' }], next_files_cursor: null };
vi.mock('./base-model-field.tsx', () => ({ BaseModelField: () => null }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../../../datasets/choice/choices.ts', () => ({
  useAllAssets: () => ({ assets: [dataset], complete: true }),
}));
vi.mock('../../../datasets/asset-queries.ts', () => ({
  assetQuery: (id: string) => ({ queryKey: ['asset', 'one', id], queryFn: async () => dataset }),
}));
vi.mock('../../../datasets/files/data-file.ts', () => ({ isDataFile: () => true }));
vi.mock('../../../datasets/choice/asset-field.tsx', () => ({
  AssetField: ({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) => (
    <button type="button" onClick={() => onChange(null)}>
      dataset {String(value)}
    </button>
  ),
}));
vi.mock('../../../datasets/choice/file-field.tsx', () => ({
  FileField: ({ value }: { value: string | null }) => <span>file {String(value)}</span>,
}));

function Step() {
  const [state, dispatch] = useReducer(wizardReducer, {
    ...initialState,
    type: 'finetune',
    step: 'selection',
  });
  return <StepSelection wizard={{ state, problems: {}, wantedFile: undefined, dispatch }} />;
}

it('preselects the only option, and a cleared field stays empty', async () => {
  render(
    <QueryClientProvider client={queryClient}>
      <Step />
    </QueryClientProvider>,
  );
  expect(await screen.findByText('file a.csv')).toBeTruthy();
  fireEvent.click(screen.getByText('dataset d1'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(screen.getByText('dataset null')).toBeTruthy();
});
