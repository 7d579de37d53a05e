import { downloadFile } from '@bakehouse/contract/assets';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setCredentials } from './credentials.ts';
import { download } from './download.ts';

const input = { params: { id: 'd1', '*': 'rows.csv' } };
const LARGE = 500_000_000;
const createObjectURL = vi.fn<(blob: Blob) => string>(() => 'blob:1');

beforeEach(() => {
  setCredentials({ userId: 'u1', apiKey: 'key' });
  createObjectURL.mockClear();
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => createObjectURL(blob as Blob));
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
  vi.stubGlobal('fetch', async () => new Response('a,b\n1,2\n'));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  setCredentials(null);
});

/** A browser that can write to a file which the person chooses. */
function stubPicker(written: string[]) {
  const decoder = new TextDecoder();
  const createWritable = async () =>
    new WritableStream({ write: (chunk: Uint8Array) => void written.push(decoder.decode(chunk)) });
  vi.stubGlobal('showSaveFilePicker', async () => ({ createWritable }));
}

it('counts what has come and offers a small file as a blob', async () => {
  const written: string[] = [];
  stubPicker(written);
  const received: number[] = [];
  await download(downloadFile, input, 'rows.csv', {
    sizeBytes: 8,
    onProgress: (bytes) => received.push(bytes),
  });
  expect(received.at(-1)).toBe(8);
  expect(createObjectURL).toHaveBeenCalledOnce();
  expect(written).toEqual([]);
});

it('writes a large file to the disk as it comes', async () => {
  const written: string[] = [];
  stubPicker(written);
  await download(downloadFile, input, 'rows.csv', { sizeBytes: LARGE });
  expect(written.join('')).toBe('a,b\n1,2\n');
  expect(createObjectURL).not.toHaveBeenCalled();
});

it('takes the way through memory where the browser cannot write files', async () => {
  await download(downloadFile, input, 'rows.csv', { sizeBytes: LARGE });
  expect(createObjectURL).toHaveBeenCalledOnce();
});
