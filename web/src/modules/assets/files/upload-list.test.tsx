import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../lib/api/api-error.ts';
import { setCredentials } from '../../../lib/api/credentials.ts';
import { upload } from '../../../lib/api/upload.ts';
import { notify } from '../../../ui/notify.ts';
import { UploadList } from './upload-list.tsx';
import { uploadFiles, useUploads } from './uploads.ts';

vi.mock('../../../lib/api/upload.ts', () => ({ upload: vi.fn<typeof upload>() }));

function Uploads({ onRetry }: { onRetry?: (file: File) => void }) {
  return <UploadList uploads={useUploads('asset')} {...(onRetry && { onRetry })} />;
}

const rows = new File(['a row'], 'rows.csv');

test('a file that has failed is sent once more without being chosen again', async () => {
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  const done = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  vi.mocked(upload)
    .mockRejectedValueOnce(new ApiError('Failed to upload file.', { status: 0, code: 'network' }))
    .mockResolvedValueOnce({ file: { path: 'rows.csv' }, revision_id: 'r1' });
  await uploadFiles('asset', [rows]);
  render(<Uploads />);
  await userEvent.click(screen.getByRole('button', { name: 'Try again: rows.csv' }));
  await vi.waitFor(() => expect(done).toHaveBeenCalledExactlyOnceWith('File uploaded'));
  expect(vi.mocked(upload).mock.calls.map(([, , file]) => file)).toEqual([rows, rows]);
  expect(screen.queryByRole('listitem')).toBeNull();
});

test('the page of an asset looks at what comes of it', async () => {
  vi.mocked(upload).mockRejectedValueOnce(new ApiError('The disk is full', { status: 507 }));
  await uploadFiles('asset', [rows]);
  const onRetry = vi.fn<(file: File) => void>();
  render(<Uploads onRetry={onRetry} />);
  await userEvent.click(screen.getByRole('button', { name: 'Try again: rows.csv' }));
  expect(onRetry).toHaveBeenCalledExactlyOnceWith(rows);
  expect(screen.queryByRole('listitem')).toBeNull();
});

test('a file on its way says how far it is, in percent', async () => {
  vi.mocked(upload).mockImplementationOnce((_endpoint, _params, { size }, options) => {
    options?.onProgress?.(size * 0.4, size);
    return new Promise(() => undefined);
  });
  render(<Uploads />);
  await act(async () => void uploadFiles('asset', [rows]));
  const bar = await screen.findByRole('progressbar', { name: 'rows.csv' });
  expect(bar.getAttribute('aria-valuenow')).toBe('40');
});
