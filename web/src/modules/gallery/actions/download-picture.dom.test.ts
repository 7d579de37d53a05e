import { beforeEach, expect, test, vi } from 'vitest';
import { saveAs } from '../../../lib/api/download.ts';
import { downloadPicture } from './download-picture.ts';

vi.mock('../../../lib/api/download.ts', () => ({ saveAs: vi.fn<typeof saveAs>() }));
const fetched = vi.fn<typeof fetch>();
vi.stubGlobal('fetch', fetched);

beforeEach(() => vi.clearAllMocks());

const output = {
  id: 'o',
  url: '/api/v1/files/x?signature=1',
  thumbnail_url: '/api/v1/files/x?signature=1',
  download_url: '',
  media_type: 'image/jpeg',
  width: 128,
  height: 128,
  size_bytes: 9,
  duration_s: null,
  frames: null,
  has_audio: null,
  strip_url: null,
};
const download = (outputs = [output]) => downloadPicture({ id: '0123456789', generator: 'paris', outputs });
const picture = (bytes = 'bytes', type = 'image/jpeg') =>
  new Response(bytes, { headers: { 'content-type': type } });

test('saves the picture under its own name', async () => {
  fetched.mockResolvedValue(picture());
  await download();
  expect(fetched).toHaveBeenCalledExactlyOnceWith(
    expect.stringContaining('/api/download-image?url=%2Fapi%2Fv1%2Ffiles%2Fx'),
    expect.anything(),
  );
  expect(saveAs).toHaveBeenCalledExactlyOnceWith(expect.any(Blob), 'paris-23456789.jpg');
});

test.each([
  ['Image file not found', () => new Response('', { status: 404 })],
  ['Access denied to image file', () => new Response('', { status: 403 })],
  ['Server error during download', () => new Response('', { status: 500 })],
  ['Image file is empty or corrupted', () => picture('')],
  ['Invalid image source', () => picture('<html>', 'text/html')],
  ['Failed to download image', () => new Response('', { status: 418 })],
  ['Could not access image file', () => Promise.reject(new TypeError('Failed to fetch'))],
])('%s', async (sentence, answer) => {
  fetched.mockImplementation(async () => answer());
  await expect(download()).rejects.toThrow(sentence);
  expect(saveAs).not.toHaveBeenCalled();
});

test('Image URL not provided', async () => {
  await expect(download([])).rejects.toThrow('Image URL not provided');
  await expect(download([{ ...output, url: '' }])).rejects.toThrow('Image URL not provided');
});
