import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { notify } from '../../../../ui/notify.ts';
import { UnfinishedList } from './unfinished-list.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const MB = 1024 * 1024;
const upload = { upload_id: 'u1', path: 'vae/weights.bin', size_bytes: 4 * MB, received_bytes: 3 * MB };

function file(name: string, size: number): File {
  return Object.defineProperty(new File(['x'], name), 'size', { value: size });
}

test('lists an interrupted upload, accepts only its file, and can discard it', async () => {
  vi.mocked(call).mockResolvedValue({ uploads: [upload] });
  const failure = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  const onFile = vi.fn<(file: ChosenFile) => void>();
  render(
    <QueryClientProvider client={queryClient}>
      <UnfinishedList assetId="asset" onFile={onFile} />
    </QueryClientProvider>,
  );
  await screen.findByText('Choose the file again to continue its upload.');
  expect(screen.getByText('3.00 MB of 4.00 MB')).toBeTruthy();
  const field = screen.getByLabelText('File of vae/weights.bin');
  await userEvent.upload(field, file('weights.bin', 5 * MB));
  expect(failure).toHaveBeenCalledExactlyOnceWith('This is a different file', {
    description: 'Choose weights.bin, 4.00 MB',
  });
  const right = file('weights.bin', 4 * MB);
  await userEvent.upload(field, right);
  expect(onFile).toHaveBeenCalledExactlyOnceWith({ file: right, path: 'vae/weights.bin' });

  vi.mocked(call).mockResolvedValue({ uploads: [] });
  await userEvent.click(screen.getByRole('button', { name: 'Cancel vae/weights.bin' }));
  await vi.waitFor(() => expect(screen.queryByRole('listitem')).toBeNull());
  expect(vi.mocked(call).mock.calls).toContainEqual([
    expect.objectContaining({ method: 'DELETE' }),
    { params: { id: 'asset', uploadId: 'u1' } },
  ]);
});
