import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import type { ChosenFile } from '../lib/files/chosen-file.ts';
import { FileDrop } from './file-drop.tsx';
import { notify } from './notify.ts';

vi.mock('./notify.ts', () => ({
  notify: { failure: vi.fn<typeof notify.failure>(), info: vi.fn<typeof notify.info>() },
}));

beforeEach(() => vi.clearAllMocks());

function file(name: string, size: number): File {
  return Object.defineProperty(new File(['x'], name), 'size', { value: size });
}

function inFolder(path: string, size = 1): File {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return Object.defineProperty(file(name, size), 'webkitRelativePath', { value: path });
}

test('rejects files over 500 MB by name and accepts the rest', async () => {
  const onFiles = vi.fn<(files: ChosenFile[]) => void>();
  render(<FileDrop onFiles={onFiles} hint="csv" />);
  const [fits, tooLarge] = [
    file('fits.csv', FILE_SIZE_LIMIT_BYTES),
    file('large.csv', FILE_SIZE_LIMIT_BYTES + 1),
  ];
  await userEvent.upload(screen.getByLabelText('Choose files'), [fits, tooLarge]);
  expect(onFiles).toHaveBeenCalledExactlyOnceWith([{ file: fits, path: 'fits.csv' }]);
  expect(notify.failure).toHaveBeenCalledExactlyOnceWith('File size exceeds 500MB limit', {
    description: 'large.csv',
  });
});

test("a folder's files keep their paths; files over 500 MB are rejected and skipped hidden files are reported", async () => {
  const onFiles = vi.fn<(files: ChosenFile[]) => void>();
  render(<FileDrop onFiles={onFiles} hint="safetensors" />);
  const config = inFolder('FLUX/vae/config.json');
  const chosen = [
    ...[inFolder('FLUX/.gitattributes'), inFolder('FLUX/vae/.DS_Store'), config],
    inFolder('FLUX/transformer/weights.safetensors', FILE_SIZE_LIMIT_BYTES + 1),
  ];
  await userEvent.upload(screen.getByLabelText('Choose folder'), chosen);
  expect(onFiles).toHaveBeenCalledExactlyOnceWith([{ file: config, path: 'vae/config.json' }]);
  expect(notify.failure).toHaveBeenCalledExactlyOnceWith('File size exceeds 500MB limit', {
    description: 'transformer/weights.safetensors',
  });
  expect(notify.info).toHaveBeenCalledExactlyOnceWith('2 hidden files were left out, such as .gitattributes');
});

test('rejects an empty file by name, even without a size limit', async () => {
  const onFiles = vi.fn<(files: ChosenFile[]) => void>();
  render(<FileDrop onFiles={onFiles} hint="csv" bytesMax={null} />);
  await userEvent.upload(screen.getByLabelText('Choose files'), [file('empty.csv', 0)]);
  expect(onFiles).not.toHaveBeenCalled();
  expect(notify.failure).toHaveBeenCalledExactlyOnceWith('Failed to upload file.', {
    description: 'empty.csv is empty',
  });
});

test('shows and enforces a higher limit', async () => {
  const onFiles = vi.fn<(files: ChosenFile[]) => void>();
  render(<FileDrop onFiles={onFiles} hint="GGUF" bytesMax={50 * 1024 ** 3} />);
  expect(screen.getByText('GGUF. At most 50 GB each.')).toBeTruthy();
  const [fits, tooLarge] = [file('fits.gguf', 50 * 1024 ** 3), file('large.gguf', 50 * 1024 ** 3 + 1)];
  await userEvent.upload(screen.getByLabelText('Choose files'), [fits, tooLarge]);
  expect(onFiles).toHaveBeenCalledExactlyOnceWith([{ file: fits, path: 'fits.gguf' }]);
  expect(notify.failure).toHaveBeenCalledExactlyOnceWith('File size exceeds 50GB limit', {
    description: 'large.gguf',
  });
});

test('choosing a folder uses a directory input', () => {
  render(<FileDrop onFiles={() => undefined} hint="safetensors" />);
  expect(screen.getByLabelText('Choose folder').getAttribute('webkitdirectory')).toBe('');
  expect(screen.getByLabelText('Choose files').hasAttribute('webkitdirectory')).toBe(false);
});

test('offers a single file picker if folders are not accepted', () => {
  render(<FileDrop onFiles={() => undefined} hint="PNG" multiple={false} />);
  expect(screen.getByLabelText('Choose a file')).toBeTruthy();
  expect(screen.queryByLabelText('Choose folder')).toBeNull();
});

test('a dropped folder keeps its paths, and an unreadable folder is reported', async () => {
  const onFiles = vi.fn<(files: ChosenFile[]) => void>();
  render(<FileDrop onFiles={onFiles} hint="safetensors" />);
  const config = new File(['{}'], 'config.json');
  const entry = {
    name: 'config.json',
    isDirectory: false,
    file: (take: (one: File) => void) => take(config),
  };
  const drop = (readEntries: (take: (some: object[]) => void, fail: (error: Error) => void) => void) => {
    const folder = { name: 'vae', isDirectory: true, createReader: () => ({ readEntries }) };
    const items = [{ webkitGetAsEntry: () => folder }, { webkitGetAsEntry: () => entry }];
    fireEvent.drop(screen.getByText('safetensors. At most 500 MB each.'), {
      dataTransfer: { items, files: [] },
    });
  };
  const lists = [[entry], []];
  drop((take) => take(lists.shift() ?? []));
  await waitFor(() => expect(onFiles).toHaveBeenCalledOnce());
  expect(onFiles.mock.calls[0]?.[0]).toEqual([
    { file: config, path: 'config.json' },
    { file: config, path: 'vae/config.json' },
  ]);
  drop((_take, fail) => fail(new Error('gone')));
  await waitFor(() => expect(notify.failure).toHaveBeenCalledExactlyOnceWith('The folder could not be read'));
});
