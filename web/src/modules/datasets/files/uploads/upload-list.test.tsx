import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { setCredentials } from '../../../../lib/api/credentials.ts';
import { upload } from '../../../../lib/api/upload.ts';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { notify } from '../../../../ui/notify.ts';
import { UploadList } from './upload-list.tsx';
import { type Upload, uploadFiles, useUploads } from './uploads.ts';

vi.mock('../../../../lib/api/upload.ts', () => ({ upload: vi.fn<typeof upload>() }));

function Uploads({ onRetry }: { onRetry?: (file: ChosenFile) => void }) {
  return <UploadList uploads={useUploads('asset')} {...(onRetry && { onRetry })} />;
}

const file = new File(['a row'], 'rows.csv');
const rows = { file, path: file.name };

test('retries a failed file without selecting it again', async () => {
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  const done = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  vi.mocked(upload)
    .mockRejectedValueOnce(new ApiError('Failed to upload file.', { status: 0, code: 'network' }))
    .mockResolvedValueOnce({ file: { path: 'rows.csv' }, revision_id: 'r1' });
  await uploadFiles('asset', [rows]);
  render(<Uploads />);
  await userEvent.click(screen.getByRole('button', { name: 'Try again: rows.csv' }));
  await vi.waitFor(() => expect(done).toHaveBeenCalledExactlyOnceWith('File uploaded'));
  expect(vi.mocked(upload).mock.calls.map(([, , sent]) => sent)).toEqual([file, file]);
  expect(screen.queryByRole('listitem')).toBeNull();
});

test("the asset's page handles the retry", async () => {
  vi.mocked(upload).mockRejectedValueOnce(new ApiError('There is no room left', { status: 413 }));
  await uploadFiles('asset', [rows]);
  const onRetry = vi.fn<(file: ChosenFile) => void>();
  render(<Uploads onRetry={onRetry} />);
  await userEvent.click(screen.getByRole('button', { name: 'Try again: rows.csv' }));
  expect(onRetry).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(rows));
  expect(screen.queryByRole('listitem')).toBeNull();
});

test('shows the progress of an upload in percent', async () => {
  vi.mocked(upload).mockImplementationOnce((_endpoint, _params, { size }, options) => {
    options?.onProgress?.(size * 0.4, size);
    return new Promise(() => undefined);
  });
  render(<Uploads />);
  await act(async () => void uploadFiles('asset', [rows]));
  const bar = await screen.findByRole('progressbar', { name: 'rows.csv' });
  expect(bar.getAttribute('aria-valuenow')).toBe('40');
});

test('shows a finished file while others are uploading, without Cancel', async () => {
  vi.mocked(upload)
    .mockResolvedValueOnce({ file: { path: 'rows.csv' }, revision_id: 'r1' })
    .mockImplementationOnce(() => new Promise(() => undefined));
  render(<Arriving />);
  await act(async () => void uploadFiles('arriving', [rows, { file, path: 'more/rows.csv' }]));
  expect(await screen.findByText('Uploaded')).toBeTruthy();
  expect(screen.getByLabelText('Cancel rows.csv').className).toContain('invisible');
  expect(screen.getByLabelText('Cancel more/rows.csv').className).not.toContain('invisible');
});

function Arriving() {
  return <UploadList uploads={useUploads('arriving')} />;
}

test('renders fifty of ten thousand files, failed ones first', () => {
  const uploads = Array.from({ length: 10_000 }, (_, at) => ({
    ...rows,
    id: String(at),
    assetId: 'many',
    path: `${at}.csv`,
    sizeBytes: 5,
    sentBytes: 0,
    inParts: false,
    isStalled: false,
    state: at === 9_000 ? 'failed' : at < 40 ? 'done' : 'waiting',
    error: null,
  })) satisfies Upload[];
  render(<UploadList uploads={uploads} />);
  expect(screen.getAllByRole('listitem')).toHaveLength(51);
  expect(screen.getByText('40 of 10,000 files uploaded, 50 shown')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Try again: 9000.csv' })).toBeTruthy();
});
