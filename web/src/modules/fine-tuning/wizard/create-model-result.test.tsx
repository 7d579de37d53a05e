import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { CreateModelResult } from './create-model-result.tsx';
import { initialState } from './wizard-state.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => undefined) }));

const none = () => undefined;
const made = { modelId: 'm1', error: null, uploads: [], tryAgain: none };

test.each([
  ['finetune', 'Watch the run', '/llm-training'],
  ['upload', 'Manage Model', '/model/m1/description'],
] as const)('after %s, “%s” leaves no sheet that Back would reopen', async (type, name, path) => {
  const history = createMemoryHistory({ initialEntries: ['/dashboard', '/dashboard?sheet=create-model'] });
  const routeTree = createRootRoute({
    component: () => (
      <QueryClientProvider client={queryClient}>
        <CreateModelResult
          wizard={{ ...made, state: { ...initialState, type, name: 'Rye' } }}
          onClose={none}
        />
      </QueryClientProvider>
    ),
  });
  render(<RouterProvider router={createRouter({ routeTree, history }) as never} />);
  await userEvent.click(await screen.findByRole('link', { name }));
  await waitFor(() => expect(history.location.pathname).toBe(path));
  await act(async () => history.back());
  await waitFor(() => expect(history.location.href).toBe('/dashboard'));
});
