import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, it } from 'vitest';
import { UserContext } from '../../accounts/session.ts';
import { previewQuery } from '../../datasets/asset-calls.ts';
import { choiceQuery } from '../../datasets/choice/choices.ts';
import { useStepLoading } from './use-step-loading.ts';

const file = { assetId: 'd1', revisionId: 'r1', path: 'rows.csv', offset: 0 };
const models = choiceQuery('u1', 'MODEL').queryKey;
const atModel = {
  step: 'selection',
  type: 'finetune',
  baseModelId: null,
  datasetId: null,
  fileName: null,
} as const;
const atFile = { ...atModel, step: 'parameters', datasetId: 'd1', fileName: 'rows.csv' } as const;

it.each([
  ['the list of models is loading', atModel, models, {}, true],
  ['the list of models is refetching', atModel, models, { data: { pages: [], pageParams: [] } }, false],
  ['a base model is chosen', { ...atModel, baseModelId: 'm1' }, models, {}, false],
  ['the list of datasets is loading', atModel, choiceQuery('u1', 'RAW').queryKey, {}, false],
  ['a model search is loading', atModel, choiceQuery('u1', 'MODEL', 'rye').queryKey, {}, false],
  ['the chosen file is loading', atFile, previewQuery(file).queryKey, {}, true],
  ['the chosen file is refetching', atFile, previewQuery(file).queryKey, { data: {} }, false],
  ['another file is loading', atFile, previewQuery({ ...file, path: 'b.csv' }).queryKey, {}, false],
])('while %s, whether the button waits', (_what, state, queryKey, known, waits) => {
  const client = new QueryClient();
  const query = client.getQueryCache().build<unknown, Error, unknown>(client, { queryKey });
  query.setState({ fetchStatus: 'fetching', ...known });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>
      <UserContext value={{ id: 'u1' } as never}>{children}</UserContext>
    </QueryClientProvider>
  );
  const { result } = renderHook(() => useStepLoading(state), { wrapper });
  expect(result.current).toBe(waits);
});
