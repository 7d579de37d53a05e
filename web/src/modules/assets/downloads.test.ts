import { act, renderHook } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { download } from '../../lib/download.ts';
import { cancelDownload, saveFile, useDownloads } from './downloads.ts';

vi.mock('../../lib/download.ts', () => ({ download: vi.fn<typeof download>() }));

it('shows how much has come, and ends quietly when it is cancelled', async () => {
  let report: (bytes: number) => void = () => undefined;
  vi.mocked(download).mockImplementation(
    (_endpoint, _input, _name, { onProgress, signal }) =>
      new Promise((_resolve, reject) => {
        report = onProgress ?? report;
        signal?.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
      }),
  );
  const { result } = renderHook(() => useDownloads('asset'));
  let ended: Promise<void> = Promise.resolve();
  act(() => {
    ended = saveFile('asset', { path: 'data/rows.csv', size_bytes: 200 });
  });
  act(() => report(101));
  expect(result.current).toMatchObject([{ fileName: 'rows.csv', sizeBytes: 200, receivedBytes: 101 }]);
  await act(async () => {
    cancelDownload(result.current[0]?.id ?? '');
    await ended;
  });
  expect(result.current).toEqual([]);
});

it('passes a refusal on', async () => {
  vi.mocked(download).mockRejectedValue(new Error('The file is gone'));
  await expect(saveFile('asset', { path: 'rows.csv', size_bytes: 1 })).rejects.toThrow('The file is gone');
});
