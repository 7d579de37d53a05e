import { deleteVideo, downloadVideo } from '@bakehouse/contract/videos';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call, callRaw } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { saveAs } from '../../lib/api/download.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { notify } from '../../ui/notify.ts';
import { generationOf } from './testing/generation-of.ts';
import { useDeleteVideo, useDownloadVideo } from './video-calls.ts';

vi.mock('../../lib/api/api-client.ts', () => ({
  call: vi.fn<typeof call>(),
  callRaw: vi.fn<typeof callRaw>(),
}));
vi.mock('../../lib/api/download.ts', () => ({ saveAs: vi.fn<typeof saveAs>() }));

const wrapper = ({ children }: { children: React.ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);
const video = generationOf({ id: 'aaaa-12345678', generator: 'veo' });
const success = vi.spyOn(notify, 'success');

beforeEach(() => {
  queryClient.clear();
  success.mockClear();
  vi.mocked(call).mockReset();
  vi.mocked(callRaw).mockReset();
});

const remove = (one = video) => {
  const { result } = renderHook(() => useDeleteVideo(), { wrapper });
  return act(() => result.current.mutateAsync(one));
};
const download = () => {
  const { result } = renderHook(() => useDownloadVideo(), { wrapper });
  return act(() => result.current.mutateAsync(video));
};

test('deletes and downloads a video through the videos API and reports it', async () => {
  await remove();
  expect(call).toHaveBeenCalledWith(deleteVideo, { params: { id: video.id } });
  expect(success).toHaveBeenLastCalledWith('Video deleted successfully');
  vi.mocked(callRaw).mockResolvedValue(new Response('video'));
  await download();
  expect(vi.mocked(callRaw).mock.calls[0]?.[0]).toBe(downloadVideo);
  expect(saveAs).toHaveBeenCalledWith(expect.any(Blob), 'veo-12345678.mp4');
  expect(success).toHaveBeenLastCalledWith('Download completed');
});

test.each([
  ['Video not found', 'deletion', 404],
  ['Permission denied', 'deletion', 403],
  ['Failed to delete video', 'deletion', 500],
  ['Video not found', 'download', 404],
  ['Permission denied', 'download', 403],
  ['Video not ready for download', 'download', 400],
  ['Failed to download video', 'download', 503],
])('shows "%s" if the server answers a %s with %i', async (sentence, what, status) => {
  const refusal = new ApiError('in its own words', { status });
  vi.mocked(call).mockRejectedValue(refusal);
  vi.mocked(callRaw).mockRejectedValue(refusal);
  await expect(what === 'deletion' ? remove() : download()).rejects.toThrow(sentence);
  expect(success).not.toHaveBeenCalled();
});

test("shows the server's reason if a video in progress at a service cannot be deleted", async () => {
  vi.mocked(call).mockRejectedValue(new ApiError('Google has started on this video', { status: 409 }));
  await expect(remove()).rejects.toThrow('Google has started on this video');
});

test('sends nothing without an id', async () => {
  await expect(remove({ ...video, id: '' })).rejects.toThrow('Missing parameters for deletion');
  expect(call).not.toHaveBeenCalled();
});
