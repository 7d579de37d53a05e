import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { uploadFiles } from '../datasets/files/uploads/uploads.ts';
import { useCreateModel } from './wizard/use-create-model.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../datasets/files/uploads/announce-upload.ts', () => ({ announceUpload: () => undefined }));
vi.mock('../datasets/files/uploads/uploads.ts', () => ({
  uploadFiles: vi.fn<typeof uploadFiles>(),
  useUploads: () => [],
}));
vi.mock('./wizard/use-lack-of-credit.ts', () => ({ useLackOfCredit: () => null }));
vi.mock('./wizard/use-checked-choice.ts', () => ({
  useCheckedChoice: () => ({ isPending: false, reset: () => undefined }),
}));

test('two clicks in the same tick create one model and upload its files once', async () => {
  vi.mocked(call).mockResolvedValue('m1');
  vi.mocked(uploadFiles).mockResolvedValue({ done: [], failed: [], paused: [] });
  const { result } = renderHook(() => useCreateModel({}), {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });
  const files = [{ file: new File(['{}'], 'config.json'), path: 'config.json' }];
  const values = { name: 'Rye model', baseModelType: 'qwen' as const, files };
  act(() => result.current.dispatch({ do: 'change', values: { type: 'upload' } }));
  act(() => result.current.goOn());
  act(() => result.current.dispatch({ do: 'change', values }));
  act(() => result.current.goOn());
  expect(result.current.state.step).toBe('files');
  act(() => {
    result.current.goOn();
    result.current.goOn();
  });
  await waitFor(() => expect(result.current.state.step).toBe('uses'));
  expect(call).toHaveBeenCalledTimes(1);
  expect(uploadFiles).toHaveBeenCalledExactlyOnceWith('m1', files);
});

test('after a lost response, an upload with the same name and files creates the same model', async () => {
  vi.mocked(call)
    .mockReset()
    .mockRejectedValueOnce(new ApiError('The server cannot be reached.', { status: 0, code: 'network' }))
    .mockResolvedValueOnce('m1');
  const { result } = renderHook(() => useCreateModel({}), {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });
  const values = {
    name: 'Rye model',
    baseModelType: 'qwen' as const,
    files: [{ file: new File(['{}'], 'config.json'), path: 'config.json' }],
  };
  const submit = () => {
    act(() => result.current.dispatch({ do: 'change', values: { type: 'upload' } }));
    act(() => result.current.goOn());
    act(() => result.current.dispatch({ do: 'change', values }));
    act(() => result.current.goOn());
    act(() => result.current.goOn());
  };
  submit();
  await waitFor(() => expect(result.current.state.isOver).toBe(true));
  act(() => result.current.tryAgain());
  expect(result.current.state).toMatchObject({ step: 'type', isOver: false, name: '', files: [] });
  submit();
  await waitFor(() => expect(result.current.state.step).toBe('uses'));
  const [first, second] = vi.mocked(call).mock.calls.map(([, , options]) => options?.idempotencyKey);
  expect(first).toBeTruthy();
  expect(second).toBe(first);
});
