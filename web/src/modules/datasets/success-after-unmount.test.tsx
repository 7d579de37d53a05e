import type { AccessRequest } from '@bakehouse/contract/restricted-models';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { notify } from '../../ui/notify.ts';
import {
  useDecideAccess,
  useDeleteRestrictedModel,
  useRequestAccess,
} from '../models/restricted/restricted-model-calls.ts';
import { useDeleteFile } from './files/file-calls.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const request = { request_id: 'r1', username: 'ada', model_name: 'Crumb 70B' } as AccessRequest;

test.for([
  {
    use: useDecideAccess,
    what: { request, decision: 'granted' },
    message: 'ada was granted access to Crumb 70B',
  },
  {
    use: useDecideAccess,
    what: { request, decision: 'refused' },
    message: 'ada was refused access to Crumb 70B',
  },
  { use: () => useRequestAccess('crumb'), what: 'To bake with it', message: 'Your request was sent' },
  {
    use: useDeleteRestrictedModel,
    what: { id: 'crumb', name: 'Crumb 70B' },
    message: 'Crumb 70B was removed',
  },
  { use: () => useDeleteFile('d1'), what: 'facts.csv', message: 'File deleted successfully' },
])('$message, even if the row that requested it is gone', async ({ use, what, message }) => {
  vi.mocked(call).mockReset();
  const success = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  let answer: (value: unknown) => void = () => {};
  vi.mocked(call).mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const { result, unmount } = renderHook(() => use() as { mutate: (what: unknown) => void }, {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });
  act(() => result.current.mutate(what));
  await waitFor(() => expect(call).toHaveBeenCalled());
  unmount();
  answer(undefined);
  await waitFor(() => expect(success).toHaveBeenCalledWith(message));
});
